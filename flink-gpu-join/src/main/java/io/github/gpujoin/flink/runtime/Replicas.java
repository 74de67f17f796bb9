// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import java.io.Serializable;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The replicated dimensions that a {@link ReplicaOperator} logs and replays. Serialized with the
 * job.
 *
 * @param maxBytes largest size of each dimension in bytes, by number; {@value #UNLIMITED} for
 *     dimensions that are replicated at any size
 * @param measured the dimension that stays partitioned if it exceeds the limit, or null
 */
public record Replicas(Map<Integer, Long> maxBytes, @Nullable MeasuredDimension measured)
        implements Serializable {

    /** For {@link #maxBytes}. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** A join that logs all dimensions itself. */
    public static final Replicas NONE = new Replicas(Map.of());

    public Replicas {
        maxBytes = Map.copyOf(maxBytes);
    }

    /** Replicated dimensions, none of which is measured. */
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
