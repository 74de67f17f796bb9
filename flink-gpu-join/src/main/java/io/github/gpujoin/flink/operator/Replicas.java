package io.github.gpujoin.flink.operator;

import java.io.Serializable;
import java.util.Map;
import java.util.Set;

/**
 * The replicated dimensions that a {@link ReplicaOperator} logs and replays. Travels with the job.
 *
 * @param maxBytes by number of the dimension: the most bytes of its rows, {@value #UNLIMITED} for
 *     dimensions that are replicated at any size
 */
public record Replicas(Map<Integer, Long> maxBytes) implements Serializable {

    /** For {@link #maxBytes}. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** All dimensions are partitioned, or logged by the join itself. */
    public static final Replicas NONE = new Replicas(Map.of());

    public Replicas {
        maxBytes = Map.copyOf(maxBytes);
    }

    /** Numbers of the dimensions. */
    public Set<Integer> dimensions() {
        return maxBytes.keySet();
    }

    boolean isEmpty() {
        return maxBytes.isEmpty();
    }
}
