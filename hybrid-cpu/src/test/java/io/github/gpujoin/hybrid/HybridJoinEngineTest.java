package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineRun;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with two CPU engines, each with its own budget, in place of a device and the host. */
class HybridJoinEngineTest {

    private static final int KEYS = 40_000;

    private static final int MATCHES = 1_200;
    private static final ChunkSchema KEYS_ONLY = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final Object[] ONE_ROW = {1L};
    private static final Chunk TWO_FACTS = TestChunks.of(KEYS_ONLY, ONE_ROW, ONE_ROW);

    /** Minimum for a join: replicated tables, scratch memory, and the table of one build chunk. */
    private static final long LEAST_BYTES = 512 << 10;

    private final MemoryAccount deviceMemory = new MemoryAccount("device");
    private final MemoryAccount hostMemory = new MemoryAccount("host");
    private final List<EngineUnavailableException> lost = new ArrayList<>();

    private HybridJoinEngine engine(
            PartitionedStar star, int groupCount, Allocator device, Allocator host) {
        return engine(
                star,
                groupCount,
                LoggedHybrid.factory(spec -> new CpuJoinEngine(spec, device)),
                host);
    }

    private HybridJoinEngine engine(
            PartitionedStar star, int groupCount, JoinEngineFactory device, Allocator host) {
        return new HybridJoinEngine(
                star.spec(),
                star.options(groupCount, 20_000),
                device,
                LoggedHybrid.factory(spec -> new CpuJoinEngine(spec, host)),
                star.log(),
                lost::add);
    }

    /** Returns the peak memory of one engine that holds all tables. */
    private static long neededBytes(PartitionedStar star) {
        MemoryAccount account = new MemoryAccount("test");
        try (JoinEngine engine = new CpuJoinEngine(star.spec(), account.within(Long.MAX_VALUE))) {
            star.load(engine);
        }
        return account.peakBytes();
    }

    private static void assertJoins(PartitionedStar star, JoinEngine engine) {
        EngineRun run = new EngineRun(engine);
        star.probes().forEach(probe -> run.submit(probe, 0));
        run.drain();
        assertThat(run.results()).isEqualTo(star.expected());
    }

    @ParameterizedTest(name = "device {0} %, host {1} % of the need, {2}")
    @CsvSource({
        "0, 0, INNER", "0, 1, INNER", "0, 10, INNER", "0, 50, INNER", "0, 90, INNER",
        "0, 100, INNER", "0, 300, INNER", "1, 300, INNER", "10, 10, INNER", "50, 50, INNER",
        "90, 10, INNER", "100, 0, INNER", "300, 0, INNER", "300, 300, INNER", "10, 50, SEMI",
        "0, 0, SEMI", "50, 10, SEMI"
    })
    void shouldRespectBothBudgets(int devicePercent, int hostPercent, JoinKind kind) {
        PartitionedStar star =
                new PartitionedStar(devicePercent + hostPercent, KEYS, kind, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        long needed = neededBytes(star);
        long deviceBytes = needed * devicePercent / 100;
        long hostBytes = LEAST_BYTES + needed * hostPercent / 100;
        try (HybridJoinEngine engine =
                engine(star, 0, deviceMemory.within(deviceBytes), hostMemory.within(hostBytes))) {
            star.load(engine);
            assertJoins(star, engine);
            if (devicePercent >= 300) {
                assertThat(engine.tiers()).containsExactly(MemoryTier.DEVICE);
            } else if (hostPercent < 50 && devicePercent < 90) {
                assertThat(engine.tiers()).contains(MemoryTier.SPILLED);
            }
        }
        assertThat(deviceMemory.peakBytes()).isLessThanOrEqualTo(deviceBytes);
        assertThat(hostMemory.peakBytes()).isLessThanOrEqualTo(hostBytes);
        assertThat(deviceMemory.usedBytes()).isZero();
        assertThat(hostMemory.usedBytes()).isZero();
    }

    @Test
    void shouldUseMostOfDeviceThatIsTooSmall() {
        PartitionedStar star = new PartitionedStar(1, KEYS, JoinKind.INNER, false);
        long deviceBytes = neededBytes(star) / 2;
        try (HybridJoinEngine engine =
                engine(
                        star,
                        0,
                        deviceMemory.within(deviceBytes),
                        hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            assertThat(engine.tiers())
                    .hasSizeGreaterThanOrEqualTo(16)
                    .contains(MemoryTier.DEVICE, MemoryTier.HOST);
            assertThat(deviceMemory.usedBytes()).isGreaterThan(deviceBytes * 3 / 4);
        }
    }

    @ParameterizedTest(name = "of the {0}")
    @EnumSource(
            value = MemoryTier.class,
            names = {"DEVICE", "HOST"})
    void shouldContinueIfAnyAllocationFails(MemoryTier tier) {
        PartitionedStar star =
                new PartitionedStar(7, 4_000, JoinKind.INNER, false)
                        .probe(40, 0, PartitionedStar.PARTITIONS);
        int failures = 0;
        boolean failed = true;
        for (int k = 1; failed; k++) {
            FailingAllocator device =
                    new FailingAllocator(
                            deviceMemory.within(300 << 10), tier == MemoryTier.DEVICE ? k : 0);
            FailingAllocator host =
                    new FailingAllocator(
                            hostMemory.within(Long.MAX_VALUE), tier == MemoryTier.HOST ? k : 0);
            try (HybridJoinEngine engine = engine(star, 16, device, host)) {
                star.load(engine);
                assertJoins(star, engine);
            }
            failed = device.hasFailed() || host.hasFailed();
            failures += failed ? 1 : 0;
            assertThat(deviceMemory.usedBytes()).as("k=%s", k).isZero();
            assertThat(hostMemory.usedBytes()).as("k=%s", k).isZero();
        }
        assertThat(failures).isGreaterThan(40);
    }

    @Test
    void shouldMoveMostProbedGroupToDeviceWhileJoining() {
        PartitionedStar star = new PartitionedStar(3, KEYS, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        deviceMemory.within(neededBytes(star) / 2),
                        hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            int probed = engine.tiers().indexOf(MemoryTier.HOST);
            assertThat(engine.tiers()).contains(MemoryTier.DEVICE);
            star.probe(400, 2 * probed, 2 * probed + 2);
            assertJoins(star, engine);
            assertThat(engine.tiers().get(probed)).isEqualTo(MemoryTier.DEVICE);
            List<MemoryTier> settled = engine.tiers();
            assertJoins(star, engine);
            assertThat(engine.tiers()).isEqualTo(settled);
        }
    }

    @Test
    void shouldBuildTablesOfMostProbedSpilledGroup() {
        PartitionedStar star = new PartitionedStar(4, KEYS, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        (JoinEngineFactory) null,
                        hostMemory.within(neededBytes(star) / 2))) {
            star.load(engine);
            int probed = engine.tiers().indexOf(MemoryTier.SPILLED);
            assertThat(engine.isSpilled(PartitionedStar.FIRST_PARTITION + 2 * probed)).isTrue();
            star.probe(400, 2 * probed, 2 * probed + 2);
            assertJoins(star, engine);
            assertThat(engine.tiers().get(probed)).isEqualTo(MemoryTier.HOST);
        }
    }

    @ParameterizedTest(name = "announced: {0}")
    @ValueSource(booleans = {true, false})
    void shouldPlaceGroupsByArrivalOfDeferredProbes(boolean announced) {
        PartitionedStar star = new PartitionedStar(6, KEYS, JoinKind.INNER, false);
        for (int turn = 0; turn < 24; turn++) {
            for (int p = 0; p < PartitionedStar.PARTITIONS; p++) {
                star.probe(1, p, p + 1);
            }
        }
        long hostBytes = neededBytes(star) / 2;
        try (HybridJoinEngine engine =
                engine(star, 16, (JoinEngineFactory) null, hostMemory.within(hostBytes))) {
            star.load(engine);
            List<MemoryTier> first = engine.tiers();
            assertThat(first).contains(MemoryTier.HOST, MemoryTier.SPILLED);
            List<Chunk> later = new ArrayList<>();
            EngineRun run = new EngineRun(engine);
            for (Chunk chunk : star.probes()) {
                if (!engine.isSpilled(chunk.partition())) {
                    run.submit(chunk, 0);
                    continue;
                }
                later.add(chunk);
                if (announced) {
                    engine.announceDeferred(chunk.partition(), chunk.rowCount());
                }
            }
            later.sort(Comparator.comparingInt(Chunk::partition));
            later.forEach(chunk -> run.submit(chunk, 0));
            run.drain();
            List<Integer> gained = new ArrayList<>();
            for (int group = 0; group < first.size(); group++) {
                if (!first.get(group).hasTables() && engine.tiers().get(group).hasTables()) {
                    gained.add(group);
                }
            }
            assertThat(gained.isEmpty()).as("gained=%s", gained).isEqualTo(announced);
            star.probes().removeAll(later);
            star.probes().addAll(later);
            assertThat(run.results()).isEqualTo(star.expected());
        }
    }

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
    void shouldRejectMixedPartitionsIfThereAreSeveralGroups() {
        PartitionedStar star = new PartitionedStar(3, 4_000, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        deviceMemory.within(Long.MAX_VALUE),
                        hostMemory.within(Long.MAX_VALUE))) {
            assertThat(engine.acceptsMixedPartitions()).isFalse();
            star.load(engine);
            assertThat(engine.acceptsMixedPartitions()).isFalse();
        }
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
                            star.options(1, 2_000).withMemoryWaitNs(0),
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
    void shouldCloseTablesOfGroupThatMovesToFasterTier() {
        PartitionedStar star = new PartitionedStar(10, KEYS, JoinKind.INNER, false);
        long needed = neededBytes(star);
        boolean failed = true;
        for (int k = 1; failed && k < 400; k += 13) {
            FailingAllocator device = new FailingAllocator(deviceMemory.within(needed / 2), k);
            try (HybridJoinEngine engine =
                    engine(star, 16, device, hostMemory.within(LEAST_BYTES + needed / 4))) {
                star.load(engine);
            }
            failed = device.hasFailed();
            assertThat(deviceMemory.usedBytes()).as("k=%s", k).isZero();
            assertThat(hostMemory.usedBytes()).as("k=%s", k).isZero();
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

    // ------------------------------------------------------------------ spilled partitions

    /** Host memory that others can occupy completely. */
    private final class ContestedMemory implements Allocator {
        private final Allocator inner;
        private boolean taken;

        ContestedMemory(long limitBytes) {
            this.inner = hostMemory.within(limitBytes);
        }

        @Override
        public Region allocate(long lengthBytes) {
            return (taken ? hostMemory.within(0) : inner).allocate(lengthBytes);
        }

        @Override
        public long availableBytes() {
            return taken ? 0 : inner.availableBytes();
        }
    }

    /** Loads an engine without a device, and adds facts of a spilled partition group. */
    private HybridJoinEngine spilled(PartitionedStar star, Allocator host, long memoryWaitNs) {
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        star.spec(),
                        star.options(16, 1 << 20).withMemoryWaitNs(memoryWaitNs),
                        null,
                        LoggedHybrid.factory(spec -> new CpuJoinEngine(spec, host)),
                        star.log(),
                        lost::add);
        star.load(engine);
        int group = engine.tiers().indexOf(MemoryTier.SPILLED);
        assertThat(group).isNotNegative();
        star.probe(10, 2 * group, 2 * group + 2);
        return engine;
    }

    @Test
    void shouldWaitForMemoryHeldByOthers() {
        PartitionedStar star = new PartitionedStar(12, KEYS, JoinKind.INNER, false);
        ContestedMemory host = new ContestedMemory(LEAST_BYTES);
        try (HybridJoinEngine engine = spilled(star, host, TimeUnit.MINUTES.toNanos(1))) {
            EngineRun run = new EngineRun(engine);
            star.probes().forEach(probe -> run.submit(probe, 0));
            host.taken = true;
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(20)) {
                assertThat(engine.poll()).isNull();
            }
            host.taken = false;
            run.drain();
            assertThat(run.results()).isEqualTo(star.expected());
        }
    }

    @Test
    @Timeout(60)
    void shouldFailIfMemoryWaitTimesOut() {
        PartitionedStar star = new PartitionedStar(13, KEYS, JoinKind.INNER, false);
        ContestedMemory host = new ContestedMemory(LEAST_BYTES);
        try (HybridJoinEngine engine = spilled(star, host, TimeUnit.MILLISECONDS.toNanos(20))) {
            host.taken = true;
            engine.submitProbe(star.probes().get(0), 0);
            assertThatIllegalStateException()
                    .isThrownBy(
                            () -> {
                                while (true) {
                                    engine.poll();
                                }
                            })
                    .withMessageContaining("(OVER_HOST_BUDGET)")
                    .withMessageContaining("one chunk of the other");
        }
    }

    @Test
    void shouldFreeTemporaryTablesAfterLastSpilledProbe() {
        PartitionedStar star = new PartitionedStar(14, KEYS, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                spilled(star, hostMemory.within(LEAST_BYTES), TimeUnit.MINUTES.toNanos(1))) {
            EngineRun run = new EngineRun(engine);
            star.probes().forEach(probe -> run.submit(probe, 0));
            while (engine.inFlightCount() > 0) {
                assertThat(run.poll()).isTrue();
            }
            long joiningBytes = hostMemory.usedBytes();
            assertThat(engine.poll()).isNull();
            assertThat(hostMemory.usedBytes()).isLessThan(joiningBytes);
        }
    }

    @Test
    void shouldReuseSliceSizeForAllChunks() {
        int chunks = 5;
        PartitionedStar star =
                new PartitionedStar(15, 60_000, JoinKind.INNER, false).probe(4, 0, 1);
        assertThat(star.log().count(PartitionedStar.FIRST_PARTITION)).isEqualTo(chunks);
        AtomicInteger forks = new AtomicInteger();
        try (HybridJoinEngine engine =
                new HybridJoinEngine(
                        star.spec(),
                        star.options(16, 1 << 20),
                        null,
                        LoggedHybrid.factory(spec -> CrampedEngines.create(spec, 4, forks)),
                        star.log(),
                        lost::add)) {
            star.load(engine);
            forks.set(1);
            assertJoins(star, engine);
            assertThat(forks.get()).as("one refused, then 2, 2 and 1 of 5").isEqualTo(2 + 4 * 3);
        }
    }

    @ParameterizedTest(name = "device {0} %, host {1} % of the need")
    @CsvSource({"0, 300", "30, 30", "0, 10", "300, 300", "60, 300"})
    void shouldMergeGroupsOfAllTiers(int devicePercent, int hostPercent) {
        PartitionedStar star =
                new PartitionedStar(devicePercent, KEYS, JoinKind.INNER, true)
                        .probe(100, 0, PartitionedStar.PARTITIONS);
        long needed = neededBytes(star);
        long least = 32 << 20; // groups have their memory from the start
        try (HybridJoinEngine engine =
                        engine(
                                star,
                                0,
                                deviceMemory.within(
                                        devicePercent == 0
                                                ? 0
                                                : least + needed * devicePercent / 100),
                                hostMemory.within(least + needed * hostPercent / 100));
                JoinEngine reference = new ReferenceJoinEngineFactory().create(star.spec())) {
            star.load(engine);
            star.load(reference);
            assertThat(star.aggregatedBy(engine).groups())
                    .isEqualTo(star.aggregatedBy(reference).groups());
        }
    }

    @Test
    void shouldFailIfHostHasNoRoomForReplicatedDimension() {
        PartitionedStar star = new PartitionedStar(5, 1_000, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(star, 0, (JoinEngineFactory) null, hostMemory.within(100))) {
            assertThatThrownBy(() -> star.load(engine))
                    .isInstanceOf(EngineUnavailableException.class)
                    .hasMessageContaining("host memory budget")
                    .hasMessageContaining("budgetBytes=100");
        }
        assertThat(hostMemory.usedBytes()).isZero();
    }

    @Test
    void shouldRejectChunkOfForeignPartition() {
        PartitionedStar star = new PartitionedStar(6, 1_000, JoinKind.INNER, false).probe(1, 0, 1);
        try (HybridJoinEngine engine =
                new HybridJoinEngine(
                        star.spec(),
                        new HybridOptions(PartitionedStar.PARTITIONED, 0, 16, 0),
                        null,
                        LoggedHybrid.factory(CpuJoinEngine::new),
                        star.log(),
                        lost::add)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> star.load(engine))
                    .withMessageContaining("partition=64, firstPartition=0, partitions=16");
        }
    }
}
