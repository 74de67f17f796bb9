// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.testing.CrampedEngines;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Temporary tables of spilled partition groups, in host memory that others occupy. */
class HybridSpilledProbeTest extends HybridScenario {

    // ------------------------------------------------------------------ spilled partitions

    /** Host memory that others can occupy completely. */
    private final class ContestedMemory implements Allocator {
        private final Allocator inner;
        private boolean isExhausted;

        ContestedMemory(long limitBytes) {
            this.inner = hostMemory.within(limitBytes);
        }

        @Override
        public Region allocate(long lengthBytes) {
            return (isExhausted ? hostMemory.within(0) : inner).allocate(lengthBytes);
        }

        @Override
        public long availableBytes() {
            return isExhausted ? 0 : inner.availableBytes();
        }
    }

    /** Loads an engine without a device, and adds facts of a spilled partition group. */
    private HybridJoinEngine spilled(PartitionedStar star, Allocator host, long memoryWaitNs) {
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        star.spec(),
                        star.options(16, 1 << 20, memoryWaitNs),
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
            host.isExhausted = true;
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(20)) {
                assertThat(engine.poll()).isNull();
            }
            host.isExhausted = false;
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
            host.isExhausted = true;
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
}
