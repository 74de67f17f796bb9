// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.testing.FailingDevice;
import io.github.gpujoin.hybrid.testing.FullDevice;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;
import io.github.gpujoin.hybrid.testing.MemoryLog;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of the device at any call: the host continues, and no result is lost or repeated. */
class HybridDeviceFailureTest extends HybridScenario {

    private static final int MATCHES = 1_200;
    private static final ChunkSchema KEYS_ONLY = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final Object[] ONE_ROW = {1L};
    private static final Chunk TWO_FACTS = TestChunks.of(KEYS_ONLY, ONE_ROW, ONE_ROW);

    @ParameterizedTest(name = "after {0} calls")
    @CsvSource({"0", "1", "5", "30", "100", "150", "200", "250", "300", "400", "600", "1000"})
    void shouldContinueWithoutFailedDevice(int goodCalls) {
        PartitionedStar star =
                new PartitionedStar(goodCalls, 4_000, JoinKind.INNER, false)
                        .probe(80, 0, PartitionedStar.PARTITIONS);
        FailingDevice device = new FailingDevice(goodCalls);
        try (HybridJoinEngine engine =
                engine(star, 16, device, hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            assertJoins(star, engine);
            assertThat(lost).hasSize(device.hasFailed() ? 1 : 0);
            if (device.hasFailed()) {
                assertThat(engine.tiers()).doesNotContain(MemoryTier.DEVICE);
                assertThat(engine.deviceFailure()).isSameAs(lost.get(0));
            }
        }
        assertThat(hostMemory.usedBytes()).isZero();
    }

    @Test
    void shouldBuildHostTablesOfOnlyGroupIfDeviceFails() {
        PartitionedStar star =
                new PartitionedStar(9, 4_000, JoinKind.INNER, false)
                        .probe(80, 0, PartitionedStar.PARTITIONS);
        FailingDevice device = new FailingDevice(60);
        try (HybridJoinEngine engine = engine(star, 1, device, hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            assertThat(engine.tiers()).containsExactly(MemoryTier.DEVICE);
            assertJoins(star, engine);
            assertThat(device.hasFailed()).isTrue();
            assertThat(engine.tiers()).containsExactly(MemoryTier.HOST);
        }
    }

    @ParameterizedTest(name = "{0} after {1} calls, host {2} % of the need")
    @CsvSource({
        "INNER, 200, 0", "INNER, 210, 30", "INNER, 220, 300", "LEFT, 200, 0", "LEFT, 220, 30",
        "LEFT, 210, 300", "SEMI, 200, 0", "SEMI, 220, 30", "ANTI, 200, 0", "ANTI, 220, 30"
    })
    void shouldJoinMixedPartitionChunksAfterDeviceFails(
            JoinKind kind, int goodCalls, int hostPercent) {
        PartitionedStar star =
                new PartitionedStar(goodCalls, KEYS, kind, false)
                        .probeManyPartitions(20)
                        .probe(40, 0, PartitionedStar.PARTITIONS);
        FailingDevice device = new FailingDevice(goodCalls);
        long hostBytes = LEAST_BYTES + neededBytes(star) * hostPercent / 100;
        try (HybridJoinEngine engine = engine(star, 1, device, hostMemory.within(hostBytes))) {
            star.load(engine);
            assertThat(engine.acceptsMixedPartitions()).isTrue();
            assertJoins(star, engine);
            assertThat(device.hasFailed()).isTrue();
            assertThat(engine.tiers()).doesNotContain(MemoryTier.DEVICE);
        }
        assertThat(hostMemory.peakBytes()).isLessThanOrEqualTo(hostBytes);
        assertThat(hostMemory.usedBytes()).isZero();
    }

    @Test
    void shouldReportCauseIfHostFailsAfterDevice() {
        PartitionedStar star =
                new PartitionedStar(16, 500, JoinKind.INNER, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        boolean failed = true;
        for (int goodCalls = 0; failed; goodCalls++) {
            FailingDevice host = new FailingDevice(goodCalls);
            try (HybridJoinEngine engine =
                    new HybridJoinEngine(
                            star.spec(),
                            star.options(1, 2_000, 0),
                            new FailingDevice(60),
                            host,
                            star.log(),
                            lost::add)) {
                Throwable thrown =
                        catchThrowable(
                                () -> {
                                    star.load(engine);
                                    assertJoins(star, engine);
                                });
                failed = host.hasFailed();
                if (failed) {
                    assertThat(thrown)
                            .as("goodCalls=%s", goodCalls)
                            .hasStackTraceContaining("told to fail");
                } else {
                    assertThat(thrown).isNull();
                    assertThat(engine.tiers()).containsExactly(MemoryTier.HOST);
                }
            }
        }
    }

    @Test
    void shouldTakeGroupsOfDeviceThatWaitsBeforeFirstBatch() {
        PartitionedStar star =
                new PartitionedStar(11, 4_000, JoinKind.INNER, true)
                        .probe(40, 0, PartitionedStar.PARTITIONS);
        try (HybridJoinEngine engine =
                        engine(star, 16, new FullDevice(), hostMemory.within(Long.MAX_VALUE));
                JoinEngine reference = new ReferenceJoinEngineFactory().create(star.spec())) {
            star.load(engine);
            star.load(reference);
            assertThat(star.aggregatedBy(engine).groups())
                    .isEqualTo(star.aggregatedBy(reference).groups());
        }
    }

    @ParameterizedTest(name = "after {0} batches")
    @ValueSource(ints = {1, 2})
    void shouldContinueIfDeviceFailsBeforeFirstFactIsComplete(int batches) {
        try (JoinEngine engine = countingMatches(batches)) {
            EngineRun run = new EngineRun(engine);
            run.submit(TWO_FACTS, 0);
            run.drain();
            run.drainGroups();
            assertThat(lost).hasSize(1);
            assertThat(run.groups()).isEqualTo(Map.of(List.of(), List.of(2L * MATCHES)));
        }
    }

    @Test
    void shouldRestartFromCheckpointIfFailedDeviceHoldsGroups() {
        try (JoinEngine engine = countingMatches(3)) {
            EngineRun run = new EngineRun(engine);
            run.submit(TWO_FACTS, 0);
            assertThatIllegalStateException()
                    .isThrownBy(run::drain)
                    .withMessageContaining("from the last checkpoint");
            assertThat(run.probes().get(0).completedRows()).isEqualTo(1);
        }
    }

    /**
     * Counts the {@link #MATCHES} of each fact. The device fails after {@code batches} batches; a
     * fact fills more than two.
     */
    private HybridJoinEngine countingMatches(int batches) {
        JoinSpec spec =
                new JoinSpec(
                        KEYS_ONLY,
                        List.of(new DimensionSpec("dimension", KEYS_ONLY, 0, 0, JoinKind.INNER)),
                        List.of(),
                        new Aggregation(List.of(), List.of(Aggregate.count())));
        Chunk build = TestChunks.of(KEYS_ONLY, 0, Collections.nCopies(MATCHES, ONE_ROW));
        MemoryLog log = new MemoryLog(0);
        log.add(0, build);
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        spec,
                        new HybridOptions(0, 0, 1, 0),
                        // create, finishBuild, forkLoading, submitBuild, finishBuild, submitProbe
                        new FailingDevice(6 + batches),
                        LoggedHybrid.factory(CpuJoinEngine::new),
                        log,
                        lost::add);
        engine.submitBuild(0, build);
        engine.finishBuild();
        return engine;
    }
}
