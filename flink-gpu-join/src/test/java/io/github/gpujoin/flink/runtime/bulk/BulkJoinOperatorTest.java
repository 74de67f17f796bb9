// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.bulk.CpuRadixJoinFactory;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.jobgraph.JobType;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(RegionLeakExtension.class)
class BulkJoinOperatorTest {

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

    @Test
    void shouldEmitResultsOnceBothInputsHaveEnded() throws Exception {
        try (BulkJoinHarness harness =
                BulkJoinHarness.of(JobType.BATCH, new CpuRadixJoinFactory(1))) {
            harness.open();
            harness.load();
            harness.join().endInput(2);
            assertThat(harness.results()).isEmpty();
            harness.join().endInput(1);
            assertThat(harness.results())
                    .containsExactlyInAnyOrderElementsOf(BulkJoinHarness.expected());
            assertThat(harness.freeBytes()).isLessThan(BulkJoinHarness.MEMORY_BYTES);
        }
    }

    @Test
    void shouldEmitLargestWatermarkBehindResults() throws Exception {
        try (BulkJoinHarness harness =
                BulkJoinHarness.of(JobType.BATCH, new CpuRadixJoinFactory(1))) {
            harness.open();
            harness.load();
            harness.join().processWatermark1(Watermark.MAX_WATERMARK);
            harness.join().endInput(1);
            harness.join().processWatermark2(Watermark.MAX_WATERMARK);
            assertThat(harness.getOutput()).isEmpty();
            harness.join().endInput(2);
            List<Object> output = List.copyOf(harness.getOutput());
            assertThat(output)
                    .hasSize((int) BulkJoinHarness.ROWS + 2)
                    .endsWith(Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldUseNextImplementationIfOneIsUnavailable() throws Exception {
        try (BulkJoinHarness harness =
                BulkJoinHarness.of(JobType.BATCH, new Unavailable(), new CpuRadixJoinFactory(1))) {
            harness.open();
            harness.load();
            harness.join().endInput(1);
            harness.join().endInput(2);
            assertThat(harness.results())
                    .containsExactlyInAnyOrderElementsOf(BulkJoinHarness.expected());
        }
    }

    @Test
    void shouldFailIfNoImplementationIsAvailable() throws Exception {
        try (BulkJoinHarness harness = BulkJoinHarness.of(JobType.BATCH, new Unavailable())) {
            assertThatThrownBy(harness::open)
                    .isInstanceOf(EngineUnavailableException.class)
                    .hasMessage("No device.");
        }
    }

    @Test
    void shouldRefuseStreamingJob() throws Exception {
        try (BulkJoinHarness harness =
                BulkJoinHarness.of(JobType.STREAMING, new CpuRadixJoinFactory(1))) {
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
        BulkJoinHarness harness = BulkJoinHarness.of(JobType.BATCH, new CpuRadixJoinFactory(1));
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

        assertThat(harness.freeBytes()).isEqualTo(BulkJoinHarness.MEMORY_BYTES);
        assertThat(BulkJoinOpener.processBytes()).isZero();
        JoinThreads.assertEnded();
    }
}
