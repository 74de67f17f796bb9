// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceBulkJoinFactory;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.BadRecords;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.runtime.bulk.BulkJoinOperatorFactory;
import io.github.gpujoin.flink.runtime.bulk.BulkJoinSettings;
import io.github.gpujoin.kernels.gpu.GpuBulkJoinFactory;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.TwoInputTransformation;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects the packed sides of a join of batch mode with its operator.
 *
 * <pre>
 *   build -- pack -- by partition, or broadcast --+
 *                                                 +-- join -- results
 *   probe -- pack -- by partition, or forward ----+
 * </pre>
 *
 * <p>The number of partitions is fixed. Flink's scheduler may choose the parallelism of each
 * operator while the job runs, and so which partitions a subtask joins.
 */
final class BulkTopology {

    /** Part of the uid of the operator that emits the results. */
    static final String JOIN = "join";

    private static final Logger LOG = LoggerFactory.getLogger(BulkTopology.class);

    /** Most partitions by default. A packer fills a chunk for each. */
    private static final int MAX_PARTITIONS = 1024;

    /** Rows wait for the end of the input or a full chunk only. */
    private static final long FLUSH_INTERVAL_MS = Duration.ofDays(1).toMillis();

    /** A task of Flink has one thread, so a join has one beside it. */
    private static final int THREADS = 1;

    private final StreamExecutionEnvironment env;
    private final JoinUid uid;
    private final BadRecordStreams badRecords;
    private final int partitions;

    BulkTopology(StreamExecutionEnvironment env, JoinUid uid, BadRecordStreams badRecords) {
        JoinConfig.check(env.getConfiguration());
        this.env = env;
        this.uid = uid;
        this.badRecords = badRecords;
        // The parallelism is negative if the scheduler chooses it.
        int maxParallelism =
                env.getMaxParallelism() > 0
                        ? env.getMaxParallelism()
                        : KeyGroupRangeAssignment.computeDefaultMaxParallelism(
                                Math.max(1, env.getParallelism()));
        this.partitions = Math.min(maxParallelism, Math.max(MAX_PARTITIONS, env.getParallelism()));
    }

    /**
     * Describes the chunks of a side.
     *
     * @param dimension number in the headers of the chunks
     */
    PackSpec packing(String side, int dimension, boolean isPartitioned) {
        ReadableConfig config = env.getConfiguration();
        return new PackSpec(
                side,
                dimension,
                isPartitioned ? partitions : 0,
                0,
                chunkBytes(),
                FLUSH_INTERVAL_MS,
                badRecords.isWanted() ? BadRecords.SKIP : config.get(GpuJoinOptions.BAD_RECORDS),
                null);
    }

    /** Adds the packer of a side, chained to its source. */
    <T> SingleOutputStreamOperator<Chunk> pack(
            DataStream<T> stream,
            AbstractPackOperator<T, ?> packer,
            String side,
            ChunkTypeInfo type) {
        packer.packForBatch();
        SingleOutputStreamOperator<Chunk> packed =
                stream.transform(
                                "pack " + side,
                                type.withEncoding(
                                        env.getConfiguration().get(GpuJoinOptions.ENCODE_NETWORK)),
                                packer)
                        .uid(uid.operator("pack-" + side));
        Transformation<T> source = stream.getTransformation();
        packed.getTransformation()
                .setParallelism(source.getParallelism(), source.isParallelismConfigured());
        badRecords.add(packed);
        return packed;
    }

    /** Sends each chunk to the subtask that joins its partition. */
    DataStream<Chunk> byPartition(DataStream<Chunk> chunks) {
        return new DataStream<>(
                env,
                new PartitionTransformation<>(
                        chunks.getTransformation(),
                        new KeyGroupStreamPartitioner<>(
                                new PartitionKeySelector(partitions), partitions)));
    }

    /**
     * Adds the join operator.
     *
     * @param part of the uid, and of the name unless it is the only join
     * @param build packed with partitions exactly if the probe side is
     */
    <OUT> SingleOutputStreamOperator<OUT> join(
            String part,
            DataStream<Chunk> build,
            DataStream<Chunk> probe,
            boolean isPartitioned,
            BulkJoinSettings settings,
            ResultEmitterFactory<OUT> emitter,
            TypeInformation<OUT> resultType) {
        if (settings.plan() != null) {
            LOG.info("{}", settings.plan());
        }
        DataStream<Chunk> builds = isPartitioned ? byPartition(build) : build.broadcast();
        DataStream<Chunk> probes = isPartitioned ? byPartition(probe) : probe;
        TwoInputTransformation<Chunk, Chunk, OUT> join =
                new TwoInputTransformation<>(
                        builds.getTransformation(),
                        probes.getTransformation(),
                        part.equals(JOIN) ? uid.text() : uid.operator(part),
                        new BulkJoinOperatorFactory<>(settings, emitter),
                        resultType,
                        env.getParallelism(),
                        false);
        join.setMaxParallelism(partitions);
        join.setUid(uid.operator(part));
        join.declareManagedMemoryUseCaseAtOperatorScope(
                ManagedMemoryUseCase.OPERATOR,
                JoinConfig.managedMemoryWeight(env.getConfiguration()));
        env.addOperator(join);
        return new OperatorStream<>(env, join);
    }

    /** Returns the explanation of a join before it runs. */
    JoinExplanation explain(List<DimensionExplanation> dimensions) {
        return Explanations.bulk(
                env.getConfiguration(), uid, joins(), env.getParallelism(), dimensions);
    }

    /** Passes unreadable records to their consumer, once all packers are added. */
    void emitBadRecords() {
        badRecords.emitAll();
    }

    /** Passes conditions of the facts to a source that only this join reads. */
    void conditions(AbstractPackOperator<?, ?> packer, JoinInput<?> facts) {
        boolean isOn = env.getConfiguration().get(GpuJoinOptions.FACT_FILTERS);
        if (facts.sourceLink() != null && isOn) {
            packer.pruneBy(
                    new FilterPlan(
                            facts.sourceLink(),
                            FilterPlan.NONE.operator(),
                            List.of(),
                            0,
                            facts.columnConditions()));
        }
    }

    int chunkBytes() {
        return JoinConfig.chunkBytes(env.getConfiguration());
    }

    MetricLevel metrics() {
        return env.getConfiguration().get(GpuJoinOptions.METRICS);
    }

    long replicateMaxBytes() {
        return JoinConfig.replicateMaxBytes(env.getConfiguration());
    }

    /** Returns the implementations of the join, the preferred one first. */
    BulkJoinOpener joins() {
        return joins(env.getConfiguration(), new CpuRadixJoinFactory(THREADS));
    }

    /**
     * Does the same for any join of bounded inputs.
     *
     * @param cpu the join on the CPU
     */
    static BulkJoinOpener joins(ReadableConfig config, BulkJoinFactory cpu) {
        GpuJoinOptions.Engine engine = config.get(GpuJoinOptions.ENGINE);
        List<BulkJoinFactory> factories =
                switch (engine) {
                    case AUTO, GPU ->
                            List.of(new GpuBulkJoinFactory(JoinConfig.gpuOptions(config)), cpu);
                    case CPU -> List.of(cpu);
                    case REFERENCE -> List.of(new ReferenceBulkJoinFactory());
                };
        return new BulkJoinOpener(
                factories,
                engine == GpuJoinOptions.Engine.GPU,
                JoinConfig.allowedFailures(config),
                JoinConfig.cpuMemoryBytes(config));
    }
}
