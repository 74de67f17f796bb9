// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.runtime.TextEmitter;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.commons.lang3.reflect.FieldUtils;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** A {@link BulkJoinOperator} in a test, whose inputs have {@link #ROWS} results. */
final class BulkJoinHarness extends AbstractStreamOperatorTestHarness<String> {

    static final int MEMORY_BYTES = 16 << 20;
    static final long ROWS = 5_000;

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));

    private final MockEnvironment environment;

    private BulkJoinHarness(MockEnvironment environment, boolean isLeft, BulkJoinOpener joins)
            throws Exception {
        super(
                new BulkJoinOperatorFactory<>(
                        settings(isLeft, joins),
                        c -> isLeft ? BulkJoinHarness::emitLeft : new TextEmitter()),
                environment);
        this.environment = environment;
        getStreamConfig()
                .setManagedMemoryFractionOperatorOfUseCase(ManagedMemoryUseCase.OPERATOR, 1.0);
        getStreamConfig().serializeAllConfigs();
        setup(StringSerializer.INSTANCE);
    }

    static BulkJoinHarness of(JobType mode, BulkJoinFactory... factories) throws Exception {
        return new BulkJoinHarness(
                environment(mode),
                false,
                new BulkJoinOpener(List.of(factories), false, 1, Long.MAX_VALUE));
    }

    /**
     * Creates an attempt of the only subtask of a left join.
     *
     * @param attempt from 0 on
     */
    static BulkJoinHarness leftJoin(int attempt, BulkJoinOpener joins) throws Exception {
        MockEnvironment environment = environment(JobType.BATCH);
        // The builder has no attempts.
        FieldUtils.writeField(
                environment, "taskInfo", new TaskInfoImpl("join", 1, 0, 1, attempt), true);
        return new BulkJoinHarness(environment, true, joins);
    }

    private static MockEnvironment environment(JobType mode) {
        return new MockEnvironmentBuilder()
                .setTaskName("join")
                .setManagedMemorySize(MEMORY_BYTES)
                .setJobType(mode)
                .build();
    }

    @SuppressWarnings("unchecked")
    BulkJoinOperator<String> join() {
        return (BulkJoinOperator<String>) getOperator();
    }

    /** Submits rows, of which the first ones of the probe side have a match. */
    void load(long buildRows, long probeRows) throws Exception {
        join().processElement1(new StreamRecord<>(chunk(buildRows, 0)));
        join().processElement2(new StreamRecord<>(chunk(probeRows, ChunkDescriptor.FACTS)));
    }

    void load() throws Exception {
        load(ROWS, 2 * ROWS);
    }

    List<String> results() {
        return getOutput().stream()
                .filter(StreamRecord.class::isInstance)
                .map(element -> ((StreamRecord<?>) element).getValue().toString())
                .toList();
    }

    long freeBytes() {
        return environment.getMemoryManager().availableMemory();
    }

    private static BulkJoinSettings settings(boolean isLeft, BulkJoinOpener joins) {
        JoinSpec spec =
                new JoinSpec(
                        SCHEMA,
                        List.of(
                                new DimensionSpec(
                                        "build",
                                        SCHEMA,
                                        0,
                                        0,
                                        isLeft ? JoinKind.LEFT : JoinKind.INNER)));
        BulkJoinSpec bulk =
                new BulkJoinSpec(
                        new BulkInput("probe", SCHEMA, List.of(0)),
                        new BulkInput("build", SCHEMA, List.of(0)),
                        isLeft ? BulkJoinKind.LEFT : BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(0, 1), List.of(1)));
        return new BulkJoinSettings(
                spec,
                bulk,
                1,
                joins,
                MetricLevel.ESSENTIAL,
                JoinExplanation.planned("join", "flink", ReasonCode.BATCH_MODE, List.of(), 1));
    }

    /** Emits {@code "probe|build"}, or {@code "probe|null"}. */
    private static void emitLeft(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
        for (int row = fromRow; row < toRow; row++) {
            output.collect(
                    new StreamRecord<>(
                            batch.chunk().getLong(1, batch.probeRow(row))
                                    + "|"
                                    + (batch.isMatched(0, row) ? batch.getLong(0, 0, row) : null)));
        }
    }

    /** Creates rows whose keys are their numbers, from 0 on. */
    static Chunk chunk(long rows, int dimension) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, (int) (32 * rows));
        for (long n = 0; n < rows; n++) {
            builder.putLong(0, n);
            builder.putLong(1, n);
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    static List<String> expected() {
        return LongStream.range(0, ROWS).mapToObj(n -> n + "|" + n).toList();
    }
}
