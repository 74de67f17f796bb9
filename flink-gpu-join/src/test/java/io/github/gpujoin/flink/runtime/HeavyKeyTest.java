// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.engine.EngineSelection;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One key has all rows of both sides. */
@ExtendWith(RegionLeakExtension.class)
class HeavyKeyTest {

    private static final int BUILD_ROWS = 20_000;
    private static final int FACTS = 1_000;

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {true, false})
    void shouldStreamAllPairsInTheMemoryOfAFew(boolean partitioned) throws Exception {
        JoinScenario scenario = new JoinScenario(partitioned);
        for (int i = 0; i < BUILD_ROWS; i++) {
            scenario.buildRow(7, i);
        }
        for (int i = 0; i < FACTS; i++) {
            scenario.fact(7, i);
        }
        Counting counting = new Counting();
        StarJoinOperatorFactory<String> operator =
                new StarJoinOperatorFactory<>(
                        JoinScenario.settings(
                                JoinScenario.spec(),
                                EngineSelection.only(new CpuJoinEngineFactory()),
                                0),
                        context -> counting);
        long openBytes;
        try (JoinHarness harness = new JoinHarness(operator, JoinScenario.MAX_PARALLELISM, 1, 0)) {
            harness.initializeEmptyState();
            harness.open();
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            openBytes = Region.openBytes();
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
                harness.runMails(1);
            }
            harness.endProbe();
            harness.finish();
        }
        assertThat(counting.rows.get()).isEqualTo((long) BUILD_ROWS * FACTS);
        assertThat(counting.maxOpenBytes.get()).isLessThan(openBytes + (1 << 20));
    }

    /** Counts results and keeps none. */
    private static final class Counting implements ResultEmitter<String> {
        private final AtomicLong rows = new AtomicLong();
        private final AtomicLong maxOpenBytes = new AtomicLong();

        @Override
        public void emit(
                ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
            rows.addAndGet(toRow - fromRow);
            maxOpenBytes.accumulateAndGet(Region.openBytes(), Math::max);
        }
    }
}
