package io.github.gpujoin.flink.exchange.ring;

/**
 * Sides of the join whose chunks are sent to the owners of their partitions, one stream of each.
 */
public enum JoinSide {
    /** Chunks of the dimension that is partitioned. */
    BUILD,
    /** Chunks of facts. */
    PROBE
}
