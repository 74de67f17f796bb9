// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.systemtests.soak.CheckpointTrend.Sample;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointPlotsTest {

    private static CheckpointPlots plots(long lastStateBytes, long lastDurationMs) {
        return new CheckpointPlots(
                List.of(
                        new Sample(1, 1 << 20, 40),
                        new Sample(2, 2 << 20, 50),
                        new Sample(3, lastStateBytes, lastDurationMs)));
    }

    @Test
    void shouldWriteAChartOfEachFigure(@TempDir Path folder) throws Exception {
        plots(3 << 20, 60).write(folder.resolve("charts"));
        assertThat(folder.resolve("charts/checkpoint-size.svg")).content().contains("<svg");
        assertThat(folder.resolve("charts/checkpoint-duration.svg")).content().contains("<svg");
    }

    @Test
    void shouldDrawWhatEachCheckpointTook() {
        String size = "checkpoint-size";
        String duration = "checkpoint-duration";
        var plots = plots(3 << 20, 60).all();
        var larger = plots(9 << 20, 60).all();
        var longer = plots(3 << 20, 90).all();
        assertThat(larger.get(size).digest()).isNotEqualTo(plots.get(size).digest());
        assertThat(larger.get(duration).digest()).isEqualTo(plots.get(duration).digest());
        assertThat(longer.get(size).digest()).isEqualTo(plots.get(size).digest());
        assertThat(longer.get(duration).digest()).isNotEqualTo(plots.get(duration).digest());
    }
}
