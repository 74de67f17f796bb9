/**
 * Pauses senders of facts between two elements while a join holds enough of them in state, and
 * bounds what a join queues for a slow sink. Barriers always pass.
 */
package io.github.gpujoin.flink.exchange.backpressure;
