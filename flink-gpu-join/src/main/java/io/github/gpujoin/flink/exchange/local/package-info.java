// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Local exchange: passes chunks by reference between tasks of one process. Flink's channel carries
 * a {@link io.github.gpujoin.flink.exchange.local.LocalExchangeTicket ticket} in place of the
 * payload, so order, barriers and backpressure stay Flink's. Start with {@link
 * io.github.gpujoin.flink.exchange.local.LocalExchange}.
 */
package io.github.gpujoin.flink.exchange.local;
