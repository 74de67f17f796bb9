// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import java.util.HashMap;
import java.util.Map;

/**
 * Measures replicated dimensions while they are loaded. Fails the job if a dimension exceeds the
 * limit, unless {@code .replicated()} exempts it. Changelog dimensions are not measured, since only
 * the log can count their live rows.
 */
final class ReplicaLimit {

    private final JoinSpec spec;
    private final Replicas replicas;
    private final Map<Integer, Long> bytes = new HashMap<>();

    ReplicaLimit(JoinSpec spec, Replicas replicas) {
        this.spec = spec;
        this.replicas = replicas;
    }

    /**
     * @param chunk of a dimension
     * @throws IllegalStateException if the dimension is too large
     */
    void add(Chunk chunk) {
        int dimension = chunk.dimension();
        long limit = replicas.maxBytes().getOrDefault(dimension, Replicas.UNLIMITED);
        DimensionSpec side = spec.dimensions().get(dimension);
        boolean isWhole = chunk.partition() == ChunkDescriptor.UNPARTITIONED;
        if (limit == Replicas.UNLIMITED || side.isChangelog() || !isWhole) {
            return;
        }
        long measured = bytes.merge(dimension, EngineChecks.payloadBytes(chunk), Long::sum);
        if (measured > limit) {
            throw new IllegalStateException(
                    ("Replicated dimension too large: dimension=%s, measured at least %d bytes,"
                                    + " %s=%d%s.\n"
                                    + "Use .partitioned() for it, .replicated() to replicate it at any size,"
                                    + " or raise the option.")
                            .formatted(
                                    side.name(),
                                    measured,
                                    GpuJoinOptions.REPLICATE_MAX_BYTES.key(),
                                    limit,
                                    otherPartitioned(dimension)));
        }
    }

    /** Names the dimension by whose key facts are partitioned: no second one can be partitioned. */
    private String otherPartitioned(int dimension) {
        MeasuredDimension other = replicas.measured();
        return other == null || other.number() == dimension
                ? ""
                : ", facts have the partitions of '" + other.name() + "'";
    }
}
