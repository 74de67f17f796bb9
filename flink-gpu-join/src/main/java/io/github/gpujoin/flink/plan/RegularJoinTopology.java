// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.reference.ReferenceSymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.runtime.symmetric.RowPairCondition;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricJoinOperatorFactory;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricJoinSettings;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricResultEmitter;
import io.github.gpujoin.flink.state.ExactlyOnce;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.TwoInputTransformation;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;
import org.jspecify.annotations.Nullable;

/**
 * Creates the operators and edges of a regular join. Each packer fills a chunk for each key group,
 * which Flink sends to its owner, also from the channel state of an unaligned checkpoint.
 */
final class RegularJoinTopology {

    private final StreamExecutionEnvironment env;
    private final ReadableConfig config;
    private final JoinUid uid;
    private final int parallelism;
    private final int maxParallelism;

    RegularJoinTopology(
            StreamExecutionEnvironment env, ReadableConfig config, JoinUid uid, int parallelism) {
        JoinConfig.check(config);
        ExactlyOnce.require(env.getCheckpointConfig());
        ExactlyOnce.keepSplits(env.getCheckpointConfig());
        uid.requireUnused(env);
        this.env = env;
        this.config = config;
        this.uid = uid;
        this.parallelism = parallelism;
        int configured = env.getMaxParallelism();
        this.maxParallelism =
                configured > 0
                        ? configured
                        : KeyGroupRangeAssignment.computeDefaultMaxParallelism(parallelism);
    }

    /** Returns how a side is packed, by the key in its first column. */
    PackSpec packing(JoinSide side, String name) {
        return PackSpec.unpartitioned(
                        name,
                        side.ordinal(),
                        JoinConfig.chunkBytes(config),
                        Duration.ofMillis(JoinConfig.flushIntervalMs(config)))
                .partitionedBy(0, maxParallelism)
                .with(config.get(GpuJoinOptions.BAD_RECORDS));
    }

    /** Adds the packer of a side, and the edge to the owners of the partitions. */
    <IN> Transformation<Chunk> pack(
            JoinSide side,
            String name,
            Transformation<IN> rows,
            AbstractPackOperator<IN, ?> packer,
            ChunkSchema schema,
            int packerParallelism) {
        OneInputTransformation<IN, Chunk> packed =
                new OneInputTransformation<>(
                        rows,
                        "pack " + name,
                        packer,
                        ChunkTypeInfo.of(schema)
                                .withEncoding(config.get(GpuJoinOptions.ENCODE_NETWORK)),
                        packerParallelism);
        packed.setBufferTimeout(0);
        packed.setUid(uid.operator(side == JoinSide.LEFT ? "pack-left" : "pack-right"));
        return new PartitionTransformation<>(
                packed,
                new KeyGroupStreamPartitioner<>(
                        new PartitionKeySelector(maxParallelism), maxParallelism));
    }

    /**
     * Returns the settings of the join.
     *
     * @param leftState what the rows of the left input in state mean
     * @param rightState what the rows of the right input in state mean
     */
    SymmetricJoinSettings settings(
            SymmetricJoinSpec spec,
            RowPairCondition.@Nullable Factory condition,
            int leftColumns,
            int rightColumns,
            String leftState,
            String rightState) {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("kind", spec.kind().name());
        properties.put("left input", leftState);
        properties.put("right input", rightState);
        return new SymmetricJoinSettings(
                spec,
                new SymmetricJoinOpener(factory(), JoinConfig.cpuMemoryBytes(config)),
                JoinConfig.spillDelayMs(config),
                maxParallelism,
                condition,
                leftColumns,
                rightColumns,
                properties);
    }

    /** Returns the implementation. No GPU has one, so {@code auto} and {@code gpu} use the CPU. */
    private SymmetricJoinFactory factory() {
        return config.get(GpuJoinOptions.ENGINE) == GpuJoinOptions.Engine.REFERENCE
                ? new ReferenceSymmetricJoinFactory()
                : new CpuSymmetricJoinFactory();
    }

    /** Adds the join. */
    <OUT> Transformation<OUT> join(
            Transformation<Chunk> left,
            Transformation<Chunk> right,
            SymmetricJoinSettings settings,
            SymmetricResultEmitter.Factory<OUT> emitters,
            TypeInformation<OUT> type) {
        TwoInputTransformation<Chunk, Chunk, OUT> join =
                new TwoInputTransformation<>(
                        left,
                        right,
                        uid.text(),
                        new SymmetricJoinOperatorFactory<>(settings, emitters),
                        type,
                        parallelism);
        // The operator sets its keys itself; Flink only provides keyed state if there is a
        // selector.
        PartitionKeySelector keys = new PartitionKeySelector(maxParallelism);
        join.setStateKeySelectors(keys, keys);
        join.setStateKeyType(Types.INT);
        join.setMaxParallelism(maxParallelism);
        join.setUid(uid.operator("join"));
        join.setDescription(uid.text() + ", regular join, kind=" + settings.spec().kind());
        join.declareManagedMemoryUseCaseAtOperatorScope(
                ManagedMemoryUseCase.OPERATOR, JoinConfig.managedMemoryWeight(config));
        env.addOperator(join);
        return join;
    }
}
