// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.Region;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryTrendTest {

    private static final long MIB = 1L << 20;

    private final MemoryTrend trend = new MemoryTrend(16 * MIB, 128 * MIB);

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldCallNoiseFlat(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 60; i++) {
            long noise = random.nextLong(10) * MIB;
            trend.add(new MemorySample(200 * MIB + noise, 50 * MIB + noise, 900 * MIB + noise));
        }
        assertThat(trend.growthBytes()).isEmpty();
    }

    @Test
    void shouldNameWhatGrowsAndByHowMuch() {
        for (int i = 0; i < 60; i++) {
            trend.add(new MemorySample(200 * MIB, (50 + i) * MIB, 900 * MIB));
        }
        // Medians of samples 15 to 29 and 45 to 59.
        assertThat(trend.growthBytes())
                .containsOnlyKeys("regions")
                .containsEntry("regions", 30 * MIB);
    }

    @Test
    void shouldGrantTheProcessItsOwnSlack() {
        for (int i = 0; i < 60; i++) {
            trend.add(new MemorySample(0, 0, 3 * i * MIB));
        }
        assertThat(trend.growthBytes()).isEmpty();
        for (int i = 60; i < 120; i++) {
            trend.add(new MemorySample(0, 0, 3 * i * MIB));
        }
        assertThat(trend.growthBytes()).containsOnlyKeys("resident");
    }

    @Test
    void shouldForgiveGrowthWhileWarmingUp() {
        for (int i = 0; i < 60; i++) {
            trend.add(new MemorySample(Math.min(i, 14) * 100 * MIB, 0, 0));
        }
        assertThat(trend.growthBytes()).isEmpty();
    }

    @Test
    void shouldForgiveASingleSpike() {
        for (int i = 0; i < 60; i++) {
            trend.add(new MemorySample(i == 59 ? 1000 * MIB : 100 * MIB, 0, 0));
        }
        assertThat(trend.growthBytes()).isEmpty();
    }

    @Test
    void shouldNotJudgeByTooFewSamples() {
        for (int i = 1; i < MemoryTrend.MIN_SAMPLES; i++) {
            trend.add(new MemorySample(0, 0, 0));
        }
        assertThatThrownBy(trend::growthBytes)
                .hasMessage("Too few samples for a trend: required=8, samples=7");
    }

    @Test
    void shouldSeeOpenRegionsAndKeptObjects() throws Exception {
        MemorySample before = settled();
        byte[] kept = new byte[(int) (64 * MIB)];
        try (Region region = Region.allocateZeroed(64 * MIB)) {
            MemorySample during = MemorySample.take();
            assertThat(during.regionBytes() - before.regionBytes()).isEqualTo(region.lengthBytes());
            assertThat(during.heapBytes() - before.heapBytes()).isGreaterThan(kept.length / 2);
            assertThat(during.residentBytes()).isGreaterThan(64 * MIB);
        }
        assertThat(MemorySample.take().regionBytes()).isEqualTo(before.regionBytes());
    }

    /** A sample after tests before this one, in the same JVM, released their memory. */
    private static MemorySample settled() throws Exception {
        MemorySample sample = MemorySample.take();
        for (int steady = 0, tries = 0; steady < 3 && tries < 50; tries++) {
            Thread.sleep(50);
            MemorySample next = MemorySample.take();
            steady = Math.abs(next.heapBytes() - sample.heapBytes()) < MIB ? steady + 1 : 0;
            sample = next;
        }
        return sample;
    }
}
