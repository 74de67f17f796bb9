// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.runtime.TextEmitter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(RegionLeakExtension.class)
class BulkJoinOperatorTest {

    private static final int MEMORY_BYTES = 16 << 20;
    private static final long ROWS = 5_000;

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));

    private static final class Harness extends AbstractStreamOperatorTestHarness<String> {

        private final MockEnvironment environment;

        Harness(MockEnvironment environment, BulkJoinFactory... factories) throws Exception {
            super(
                    new BulkJoinOperatorFactory<>(settings(factories), c -> new TextEmitter()),
                    environment);
            this.environment = environment;
            getStreamConfig()
                    .setManagedMemoryFractionOperatorOfUseCase(ManagedMemoryUseCase.OPERATOR, 1.0);
            getStreamConfig().serializeAllConfigs();
            setup(StringSerializer.INSTANCE);
        }

        static Harness of(JobType mode, BulkJoinFactory... factories) throws Exception {
            return new Harness(
                    new MockEnvironmentBuilder()
                            .setTaskName("join")
                            .setManagedMemorySize(MEMORY_BYTES)
                            .setJobType(mode)
                            .build(),
                    factories);
        }

        @SuppressWarnings("unchecked")
        private BulkJoinOperator<String> join() {
            return (BulkJoinOperator<String>) getOperator();
        }

        void load() throws Exception {
            join().processElement1(new StreamRecord<>(chunk(0, ROWS, 0)));
            join().processElement2(new StreamRecord<>(chunk(0, 2 * ROWS, ChunkDescriptor.FACTS)));
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
    }

    private static BulkJoinSettings settings(BulkJoinFactory... factories) {
        JoinSpec spec =
                new JoinSpec(
                        SCHEMA, List.of(new DimensionSpec("build", SCHEMA, 0, 0, JoinKind.INNER)));
        BulkJoinSpec bulk =
                new BulkJoinSpec(
                        new BulkInput("probe", SCHEMA, List.of(0)),
                        new BulkInput("build", SCHEMA, List.of(0)),
                        BulkJoinKind.INNER,
                        false,
                        new BulkOutput.Rows(List.of(0, 1), List.of(1)));
        return new BulkJoinSettings(
                spec,
                bulk,
                1,
                new BulkJoinOpener(List.of(factories), false, Long.MAX_VALUE),
                MetricLevel.ESSENTIAL,
                JoinExplanation.planned("join", "flink", ReasonCode.BATCH_MODE, List.of(), 1));
    }

    /** Rows with numbers from {@code from}; keys are the numbers. */
    private static Chunk chunk(long from, long to, int dimension) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, (int) (32 * (to - from)));
        for (long n = from; n < to; n++) {
            builder.putLong(0, n);
            builder.putLong(1, n);
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** An implementation without its device. */
    private record Unavailable() implements BulkJoinFactory {

        @Override
        public String joinName() {
            return "gpu";
        }

        @Override
        public BulkJoin create(
                BulkJoinSpec spec, MemoryReservations hostMemory, Path spillDirectory) {
            throw new EngineUnavailableException(
                    EngineUnavailableException.Scope.DEVICE, "No device.", null);
        }
    }

    private static List<String> expected() {
        return LongStream.range(0, ROWS).mapToObj(n -> n + "|" + n).toList();
    }

    @Test
    void shouldEmitResultsOnceBothInputsHaveEnded() throws Exception {
        try (Harness harness = Harness.of(JobType.BATCH, new CpuRadixJoinFactory(1))) {
            harness.open();
            harness.load();
            harness.join().endInput(2);
            assertThat(harness.results()).isEmpty();
            harness.join().endInput(1);
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(expected());
            assertThat(harness.freeBytes()).isLessThan(MEMORY_BYTES);
        }
    }

    @Test
    void shouldEmitLargestWatermarkBehindResults() throws Exception {
        try (Harness harness = Harness.of(JobType.BATCH, new CpuRadixJoinFactory(1))) {
            harness.open();
            harness.load();
            harness.join().processWatermark1(Watermark.MAX_WATERMARK);
            harness.join().endInput(1);
            harness.join().processWatermark2(Watermark.MAX_WATERMARK);
            assertThat(harness.getOutput()).isEmpty();
            harness.join().endInput(2);
            List<Object> output = List.copyOf(harness.getOutput());
            assertThat(output).hasSize((int) ROWS + 2).endsWith(Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldUseNextImplementationIfOneIsUnavailable() throws Exception {
        try (Harness harness =
                Harness.of(JobType.BATCH, new Unavailable(), new CpuRadixJoinFactory(1))) {
            harness.open();
            harness.load();
            harness.join().endInput(1);
            harness.join().endInput(2);
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(expected());
        }
    }

    @Test
    void shouldFailIfNoImplementationIsAvailable() throws Exception {
        try (Harness harness = Harness.of(JobType.BATCH, new Unavailable())) {
            assertThatThrownBy(harness::open)
                    .isInstanceOf(EngineUnavailableException.class)
                    .hasMessage("No device.");
        }
    }

    @Test
    void shouldRefuseStreamingJob() throws Exception {
        try (Harness harness = Harness.of(JobType.STREAMING, new CpuRadixJoinFactory(1))) {
            assertThatThrownBy(harness::open)
                    .isInstanceOf(SuppressRestartsException.class)
                    .hasStackTraceContaining(
                            "Join of bounded inputs was made for batch mode, but the job runs in streaming mode");
        }
    }

    private enum Progress {
        CREATED,
        OPENED,
        LOADED,
        ONE_INPUT_ENDED,
        INTERRUPTED,
        COMPLETE
    }

    @ParameterizedTest
    @EnumSource
    void shouldReleaseEverythingInAnyState(Progress reached) throws Exception {
        Harness harness = Harness.of(JobType.BATCH, new CpuRadixJoinFactory(1));
        if (reached.compareTo(Progress.OPENED) >= 0) {
            harness.open();
        }
        if (reached.compareTo(Progress.LOADED) >= 0) {
            harness.load();
        }
        if (reached.compareTo(Progress.ONE_INPUT_ENDED) >= 0) {
            harness.join().endInput(1);
        }
        if (reached == Progress.INTERRUPTED) {
            Thread.currentThread().interrupt(); // as Flink does to cancel the task
            assertThatThrownBy(() -> harness.join().endInput(2))
                    .isInstanceOf(InterruptedException.class);
        } else if (reached == Progress.COMPLETE) {
            harness.join().endInput(2);
        }

        harness.close();

        assertThat(harness.freeBytes()).isEqualTo(MEMORY_BYTES);
        assertThat(BulkJoinOpener.processBytes()).isZero();
        JoinThreads.assertEnded();
    }
}
