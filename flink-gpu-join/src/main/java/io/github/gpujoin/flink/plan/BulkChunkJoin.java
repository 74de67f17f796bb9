// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.runtime.bulk.ChunkJoinOperatorFactory;
import io.github.gpujoin.flink.runtime.bulk.ChunkJoinSettings;
import io.github.gpujoin.flink.runtime.bulk.ChunkSendOperator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.StreamExchangeMode;
import org.apache.flink.streaming.api.transformations.TwoInputTransformation;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;
import org.apache.flink.streaming.runtime.partitioner.GlobalPartitioner;

/**
 * Builds the operator of a join of two streams of chunks in batch mode. One subtask joins, with
 * many threads. It receives chunks while the sources read them, so no exchange writes to disk.
 */
public final class BulkChunkJoin {

    private static final JoinUid DEFAULT_UID = JoinUid.of("chunk-join");

    /** A writer can encode such a chunk alone: it has many rows of few keys. */
    private static final int RESULT_CHUNK_BYTES = 4 << 20;

    /** A thread of the join fills a chunk while two of its chunks wait, and the writer has more. */
    private static final int RESULT_BYTES = 128 << 20;

    private final StreamExecutionEnvironment env;
    private final DataStream<Chunk> left;
    private final DataStream<Chunk> right;
    private JoinUid uid = DEFAULT_UID;
    private BulkJoinKind kind = BulkJoinKind.INNER;
    private boolean nullsAreEqual;
    private List<String> leftKeys = List.of();
    private List<String> rightKeys = List.of();

    public BulkChunkJoin(DataStream<Chunk> left, DataStream<Chunk> right) {
        this.env = left.getExecutionEnvironment();
        this.left = left;
        this.right = right;
    }

    /**
     * @throws IllegalArgumentException if a column does not exist
     */
    public void setKeys(List<String> leftColumns, List<String> rightColumns) {
        leftColumns.forEach(schema(left)::require);
        rightColumns.forEach(schema(right)::require);
        leftKeys = List.copyOf(leftColumns);
        rightKeys = List.copyOf(rightColumns);
    }

    public void setKind(BulkJoinKind kind) {
        this.kind = kind;
    }

    public void setNullsAreEqual() {
        nullsAreEqual = true;
    }

    public void setUid(String text) {
        uid = JoinUid.of(text);
    }

    /**
     * Adds the join to the job.
     *
     * @return stream of the count of result rows
     * @throws IllegalArgumentException if the keys differ in number or type
     * @throws IllegalStateException if the job does not run in batch mode
     */
    public DataStream<Long> write(JoinedChunkWriter.Factory writers) {
        if (!BatchMode.isUsed(env, List.of(left, right))) {
            throw new IllegalStateException(
                    "Join of bounded chunks in streaming mode: uid=%s. Set %s to BATCH before the join is made."
                            .formatted(uid, ExecutionOptions.RUNTIME_MODE.key()));
        }
        uid.requireUnused(env);
        ChunkJoinSettings settings =
                new ChunkJoinSettings(
                        spec(),
                        joins(),
                        env.clean(writers),
                        threads(),
                        env.getConfiguration().get(GpuJoinOptions.METRICS),
                        explain());
        TwoInputTransformation<Chunk, Chunk, Long> join =
                new TwoInputTransformation<>(
                        toOneSubtask(left, "left"),
                        toOneSubtask(right, "right"),
                        uid.text(),
                        new ChunkJoinOperatorFactory(settings),
                        Types.LONG,
                        1,
                        true);
        join.setMaxParallelism(1);
        join.setUid(uid.operator("join"));
        join.declareManagedMemoryUseCaseAtOperatorScope(
                ManagedMemoryUseCase.OPERATOR,
                JoinConfig.managedMemoryWeight(env.getConfiguration()));
        env.addOperator(join);
        return new OperatorStream<>(env, join);
    }

    private Transformation<Chunk> toOneSubtask(DataStream<Chunk> chunks, String side) {
        Transformation<Chunk> source = chunks.getTransformation();
        SingleOutputStreamOperator<Chunk> sent =
                chunks.transform(
                                "send " + side,
                                chunks.getType(),
                                new ChunkSendOperator(schema(chunks)))
                        .uid(uid.operator("send-" + side))
                        // A ticket of some bytes would wait in its buffer while the sender waits
                        // for the chunk to be received.
                        .setBufferTimeout(0);
        sent.setParallelism(source.getParallelism());
        return new PartitionTransformation<>(
                sent.getTransformation(),
                source.getParallelism() == 1
                        ? new ForwardPartitioner<>()
                        : new GlobalPartitioner<>(),
                StreamExchangeMode.PIPELINED);
    }

    private BulkJoinSpec spec() {
        ChunkSchema leftSchema = schema(left);
        ChunkSchema rightSchema = schema(right);
        return new BulkJoinSpec(
                input("left", leftSchema, leftKeys),
                input("right", rightSchema, rightKeys),
                kind,
                nullsAreEqual,
                new BulkOutput.Rows(
                        columns(leftSchema),
                        kind.returnsPairs() ? columns(rightSchema) : List.of()));
    }

    private static BulkInput input(String name, ChunkSchema schema, List<String> keys) {
        return new BulkInput(name, schema, keys.stream().map(schema::require).toList());
    }

    private static List<Integer> columns(ChunkSchema schema) {
        return IntStream.range(0, schema.size()).boxed().toList();
    }

    private static ChunkSchema schema(DataStream<Chunk> chunks) {
        return ((ChunkTypeInfo) chunks.getType()).schema();
    }

    private BulkJoinOpener joins() {
        int chunkBytes = Math.min(RESULT_CHUNK_BYTES, RESULT_BYTES / threads());
        return BulkTopology.joins(
                env.getConfiguration(), new CpuRadixJoinFactory(threads(), chunkBytes));
    }

    /** The environment's parallelism, which is negative if the scheduler chooses it. */
    private int threads() {
        return Math.max(1, env.getParallelism());
    }

    /** Explains how the join will run. */
    public JoinExplanation explain() {
        return Explanations.bulk(
                env.getConfiguration(),
                uid,
                joins(),
                1,
                List.of(
                        DimensionExplanation.planned(
                                "right",
                                kind.name(),
                                Distribution.REPLICATED,
                                ReasonCode.BATCH_MODE,
                                ReasonCode.BATCH_MODE,
                                PartitionClass.UNKNOWN)));
    }
}
