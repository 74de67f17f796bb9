// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.runtime.JoinScenario;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.event.Level;

/** Batches of the CPU engine hold 512 results, those of the reference engine 1024. */
@ExtendWith(RegionLeakExtension.class)
class FanOutMonitorTest {

    @RegisterExtension
    private final LoggerAuditingExtension log =
            new LoggerAuditingExtension(FanOutMonitor.class, Level.WARN);

    static Stream<Named<JoinEngineFactory>> engines() {
        return Stream.of(
                Named.of("cpu", new CpuJoinEngineFactory()),
                Named.of("reference", new ReferenceJoinEngineFactory()));
    }

    private static FanOutMonitor watched(
            JoinScenario scenario, JoinEngineFactory factory, int warnFrom) {
        FanOutMonitor watch = JoinScenario.fanOutWatch(warnFrom);
        try (JoinEngine engine = factory.create(JoinScenario.spec())) {
            scenario.buildChunks().forEach(chunk -> engine.submitBuild(0, chunk));
            engine.finishBuild();
            for (Chunk chunk : scenario.factChunks()) {
                engine.submitProbe(chunk, 0);
            }
            ResultBatch batch = engine.poll();
            while (batch != null) {
                watch.accept(batch);
                batch = engine.poll();
            }
        }
        return watch;
    }

    @ParameterizedTest
    @MethodSource("engines")
    void shouldWarnFromTheThresholdOnThenAtTwiceAsMany(JoinEngineFactory engine) {
        JoinScenario scenario = new JoinScenario(false);
        int[] fanOuts = {99, 100, 100, 150, 199, 200, 399, 5_000, 8_000};
        for (int key = 0; key < fanOuts.length; key++) {
            for (int i = 0; i < fanOuts[key]; i++) {
                scenario.buildRow(key, i);
            }
            scenario.fact(key, key);
        }
        FanOutMonitor watch = watched(scenario, engine, 100);
        assertThat(watch.maxFanOut()).isEqualTo(8_000);
        assertThat(log.getMessages())
                .satisfiesExactly(
                        first -> assertThat(first).contains("results=100, keys={key=1}"),
                        second -> assertThat(second).contains("results=200, keys={key=5}"),
                        third -> assertThat(third).contains("results=5000, keys={key=7}"));
    }

    @ParameterizedTest
    @MethodSource("engines")
    void shouldCountEachFactOfAtLeastTheThreshold(JoinEngineFactory engine) {
        for (long seed = 1; seed <= 30; seed++) {
            Random random = new Random(seed);
            JoinScenario scenario = new JoinScenario(false);
            Map<Integer, Integer> fanOuts = new HashMap<>();
            for (int key = 0; key < 40; key++) {
                int fanOut = random.nextInt(key == 17 ? 600 : 40);
                fanOuts.put(key, fanOut);
                for (int i = 0; i < fanOut; i++) {
                    scenario.buildRow(key, i);
                }
            }
            int most = 0;
            for (int i = 0; i < 100; i++) {
                int key = random.nextInt(40);
                scenario.fact(key, i);
                most = Math.max(most, fanOuts.get(key));
            }
            int warnFrom = Math.max(2, most - random.nextInt(most));
            assertThat(watched(scenario, engine, warnFrom).maxFanOut())
                    .as("seed=%d, warnFrom=%d", seed, warnFrom)
                    .isEqualTo(most);
        }
    }
}
