// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.systemtests.soak.CheckpointTrend.Sample;
import org.junit.jupiter.api.Test;

class CheckpointTrendTest {

    private static CheckpointTrend trend(int checkpoints, long bytesMore, long msMore) {
        CheckpointTrend trend = new CheckpointTrend();
        for (int i = 0; i < checkpoints; i++) {
            Sample sample = new Sample(i, 1_000 + i * bytesMore, 50 + i * msMore);
            trend.add(sample);
            trend.add(sample);
        }
        return trend;
    }

    @Test
    void shouldFindNothingWhereCheckpointsStayAsTheyAre() {
        assertThat(trend(9, 100, 10).growth()).isEmpty();
        assertThat(trend(9, 100, 10).samples()).hasSize(9);
    }

    @Test
    void shouldFindStateThatGrows() {
        assertThat(trend(9, 2 << 20, 0).growth()).containsOnlyKeys("stateBytes");
    }

    @Test
    void shouldFindDurationsThatGrow() {
        assertThat(trend(9, 0, 1_000).growth()).containsOnlyKeys("durationMs");
    }

    @Test
    void shouldNotJudgeAFewCheckpoints() {
        assertThatIllegalStateException().isThrownBy(() -> trend(5, 0, 0).growth());
    }
}
