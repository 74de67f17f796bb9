/**
 * Local exchange: hands chunks by reference from one task to another of the same process. Flink's
 * channel carries a {@link io.github.gpujoin.flink.exchange.local.LocalExchangeTicket ticket} in
 * place of the payload, so barriers and backpressure stay Flink's.
 */
package io.github.gpujoin.flink.exchange.local;
