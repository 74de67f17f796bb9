// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Backpressure beyond Flink's own: pauses senders of facts while a join holds many facts in state,
 * and bounds what a join queues for a slow sink. Neither delays a barrier. Start with {@link
 * io.github.gpujoin.flink.exchange.backpressure.InputHold} for the first and {@link
 * io.github.gpujoin.flink.exchange.backpressure.OutputRoom} for the second.
 */
package io.github.gpujoin.flink.exchange.backpressure;
