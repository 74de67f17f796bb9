package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import java.io.Serializable;
import java.util.Map;
import java.util.Set;

/**
 * The replicated dimensions that a {@link ReplicaOperator} logs and replays. Travels with the job.
 *
 * @param maxBytes by number of the dimension: the most bytes of its rows, {@value #UNLIMITED} for
 *     dimensions that are replicated at any size
 * @param measured the one of them that stays partitioned if it proves large; null if there is none
 */
public record Replicas(Map<Integer, Long> maxBytes, MeasuredDimension measured)
        implements Serializable {

    /** For {@link #maxBytes}. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** All dimensions are partitioned, or logged by the join itself. */
    public static final Replicas NONE = new Replicas(Map.of());

    public Replicas {
        maxBytes = Map.copyOf(maxBytes);
    }

    /** Dimensions that are replicated in any case. */
    public Replicas(Map<Integer, Long> maxBytes) {
        this(maxBytes, null);
    }

    /** Whether a dimension is the one that is distributed by its measured size. */
    boolean isMeasured(int dimension) {
        return measured != null && measured.number() == dimension;
    }

    /** Numbers of the dimensions. */
    public Set<Integer> dimensions() {
        return maxBytes.keySet();
    }

    boolean isEmpty() {
        return maxBytes.isEmpty();
    }
}
