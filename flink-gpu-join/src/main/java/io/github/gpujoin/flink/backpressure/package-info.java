/** Senders of facts pause between two elements while a receiver holds enough of them in state. */
package io.github.gpujoin.flink.backpressure;
