// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Sends the payload of edges between subtasks through rings, over shared memory or RDMA. Flink's
 * channels carry tickets in place of the payload. Start with {@link
 * io.github.gpujoin.flink.exchange.ring.RingSender} and {@link
 * io.github.gpujoin.flink.exchange.ring.RingReceiver}; {@link
 * io.github.gpujoin.flink.exchange.ring.Rendezvous} connects the two.
 */
package io.github.gpujoin.flink.exchange.ring;
