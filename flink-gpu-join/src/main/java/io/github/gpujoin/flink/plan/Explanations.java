// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.engine.GpuFailureReason;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.runtime.PlannedJoin;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Explains how joins will run, as far as that is known while the job graph is built. */
public final class Explanations {

    private Explanations() {}

    /**
     * Returns the explanations of all joins that were added to the environment since its last job.
     */
    public static List<JoinExplanation> of(StreamExecutionEnvironment env) {
        return env.getTransformations().stream()
                .flatMap(each -> PlannedJoin.of(each).stream())
                .flatMap(join -> join.plan().stream())
                .toList();
    }

    /**
     * Explains a join.
     *
     * @param dimensions without the engine, which this method adds
     */
    static JoinExplanation planned(
            ReadableConfig config,
            RingOptions rings,
            JoinSpec spec,
            List<DimensionExplanation> dimensions) {
        PartitionClass joined = joined(config, spec);
        return JoinExplanation.planned(
                rings.join(),
                rings.description(),
                unalignedCheckpoints(config, rings, dimensions),
                dimensions.stream()
                        .map(d -> d.joinedBy(PartitionClass.UNKNOWN, List.of(joined)))
                        .toList(),
                config.get(GpuJoinOptions.GPU_WEIGHT));
    }

    /**
     * Explains a join of batch mode.
     *
     * @param uid prefix of the uids of its operators
     * @param joins implementations that may join
     * @param parallelism of the join, not positive if the scheduler chooses it
     * @param dimensions without the implementation, which this method adds
     */
    static JoinExplanation bulk(
            ReadableConfig config,
            JoinUid uid,
            BulkJoinOpener joins,
            int parallelism,
            List<DimensionExplanation> dimensions) {
        BulkJoinOpener.Usable usable = joins.usable(0, Math.max(1, parallelism));
        String names =
                usable.factories().stream()
                        .map(BulkJoinFactory::joinName)
                        .collect(Collectors.joining(" or "));
        PartitionClass joined =
                joined(
                        names,
                        usable.refusal() != null
                                ? usable.refusal()
                                : joins.hasDevice() ? ReasonCode.AT_RUN_TIME : ReasonCode.ASKED);
        return JoinExplanation.planned(
                        uid.text(),
                        RingOptions.FLINK,
                        ReasonCode.BATCH_MODE,
                        dimensions.stream()
                                .map(d -> d.joinedBy(PartitionClass.UNKNOWN, List.of(joined)))
                                .toList(),
                        config.get(GpuJoinOptions.GPU_WEIGHT))
                .withChunks(ReasonCode.BATCH_MODE);
    }

    private static PartitionClass joined(ReadableConfig config, JoinSpec spec) {
        GpuJoinOptions.Engine engine = config.get(GpuJoinOptions.ENGINE);
        if (engine == GpuJoinOptions.Engine.CPU || engine == GpuJoinOptions.Engine.REFERENCE) {
            return joined(engine.name().toLowerCase(Locale.ROOT), ReasonCode.ASKED);
        }
        return GpuJoinEngineFactory.unsupported(GroupCodes.codedSpec(spec))
                .map(refused -> joined("cpu", GpuFailureReason.of(refused.failure())))
                .orElseGet(
                        () ->
                                new PartitionClass(
                                        PartitionClass.ALL,
                                        "gpu or cpu",
                                        ReasonCode.AT_RUN_TIME,
                                        PartitionClass.UNKNOWN,
                                        spread(config),
                                        List.of()));
    }

    /** Returns the rule that decides while the tables are built. */
    private static DeviceSpread spread(ReadableConfig config) {
        return switch (config.get(GpuJoinOptions.GPU_SPREAD)) {
            case BY_SIZE -> DeviceSpread.BY_SIZE;
            case REPLICATED -> DeviceSpread.REPLICATED;
            case SHARDED -> DeviceSpread.SHARDED;
        };
    }

    private static PartitionClass joined(String engine, ReasonCode why) {
        return new PartitionClass(PartitionClass.ALL, engine, why, PartitionClass.UNKNOWN);
    }

    private static ReasonCode unalignedCheckpoints(
            ReadableConfig config, RingOptions rings, List<DimensionExplanation> dimensions) {
        if (!config.get(CheckpointingOptions.ENABLE_UNALIGNED)) {
            return ReasonCode.NOT_ENABLED;
        }
        if (dimensions.stream().anyMatch(d -> d.distribution() != Distribution.PARTITIONED)) {
            return ReasonCode.BROADCAST_EDGE;
        }
        return rings.usesRings() ? ReasonCode.RINGS : ReasonCode.ENABLED;
    }
}
