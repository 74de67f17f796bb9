// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.reference.ReferenceSymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricJoinOperatorFactory;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricJoinPlan;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricJoinSettings;
import io.github.gpujoin.flink.runtime.symmetric.SymmetricResultEmitter;
import io.github.gpujoin.flink.state.ExactlyOnce;
import io.github.gpujoin.kernels.gpu.GpuMatchIndexFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.KeyedMultipleInputTransformation;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;

/**
 * Creates the operators and edges of a regular join or a multi-way join. Each packer fills a chunk
 * for each key group, which Flink sends to its owner, also from the channel state of an unaligned
 * checkpoint.
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

    /** Returns how an input is packed, by the key in its first column. */
    PackSpec packing(int input, String name) {
        return PackSpec.unpartitioned(
                        name,
                        input,
                        JoinConfig.chunkBytes(config),
                        Duration.ofMillis(JoinConfig.flushIntervalMs(config)))
                .partitionedBy(0, maxParallelism)
                .with(config.get(GpuJoinOptions.BAD_RECORDS));
    }

    /**
     * Adds the packer of an input, and the edge to the owners of the partitions.
     *
     * @param label of the input, as in the plan of the join
     * @param name of the input, for messages
     */
    <IN> Transformation<Chunk> pack(
            String label,
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
        packed.setUid(uid.operator("pack-" + label));
        return new PartitionTransformation<>(
                packed,
                new KeyGroupStreamPartitioner<>(
                        new PartitionKeySelector(maxParallelism), maxParallelism));
    }

    /**
     * Returns the settings of the join.
     *
     * @param states what the rows of each input in state mean
     */
    SymmetricJoinSettings settings(SymmetricJoinPlan plan, List<String> states) {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("kind", plan.kind());
        for (int i = 0; i < states.size(); i++) {
            properties.put(plan.labels().get(i) + " input", states.get(i));
        }
        return new SymmetricJoinSettings(
                plan,
                new SymmetricJoinOpener(factories(), JoinConfig.cpuMemoryBytes(config)),
                JoinConfig.spillDelayMs(config),
                maxParallelism,
                properties);
    }

    /**
     * Returns the implementations in the order of preference. A GPU joins only if asked: results
     * are written by the host in any case, so that it saves a part of the time of a row.
     */
    private List<SymmetricJoinFactory> factories() {
        SymmetricJoinFactory cpu = new CpuSymmetricJoinFactory();
        return switch (config.get(GpuJoinOptions.ENGINE)) {
            case GPU ->
                    List.of(
                            new IndexedSymmetricJoinFactory(
                                    new GpuMatchIndexFactory(JoinConfig.gpuOptions(config))),
                            cpu);
            case AUTO, CPU -> List.of(cpu);
            case REFERENCE -> List.of(new ReferenceSymmetricJoinFactory());
        };
    }

    /** Adds the join. */
    <OUT> Transformation<OUT> join(
            List<Transformation<Chunk>> inputs,
            SymmetricJoinSettings settings,
            SymmetricResultEmitter.Factory<OUT> emitters,
            TypeInformation<OUT> type) {
        KeyedMultipleInputTransformation<OUT> join =
                new KeyedMultipleInputTransformation<>(
                        uid.text(),
                        new SymmetricJoinOperatorFactory<>(settings, emitters),
                        type,
                        parallelism,
                        Types.INT);
        // The operator sets its keys itself; Flink only provides keyed state if there is a
        // selector.
        PartitionKeySelector keys = new PartitionKeySelector(maxParallelism);
        inputs.forEach(input -> join.addInput(input, keys));
        join.setMaxParallelism(maxParallelism);
        join.setUid(uid.operator("join"));
        join.setDescription(uid.text() + ", regular join, kind=" + settings.plan().kind());
        join.declareManagedMemoryUseCaseAtOperatorScope(
                ManagedMemoryUseCase.OPERATOR, JoinConfig.managedMemoryWeight(config));
        env.addOperator(join);
        return join;
    }
}
