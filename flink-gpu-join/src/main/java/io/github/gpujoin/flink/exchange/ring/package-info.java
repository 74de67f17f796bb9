/**
 * Sends the payload of edges between subtasks through rings, over shared memory or RDMA. Flink's
 * channel carries tickets. Start with {@link io.github.gpujoin.flink.exchange.ring.RingSender} and
 * {@link io.github.gpujoin.flink.exchange.ring.RingReceiver}; the job's coordinator tells writers
 * where readers listen.
 */
package io.github.gpujoin.flink.exchange.ring;
