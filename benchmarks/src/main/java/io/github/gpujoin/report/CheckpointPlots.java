// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import io.github.gpujoin.systemtests.soak.CheckpointTrend.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** Charts of the size and duration of the checkpoints of one job. */
public final class CheckpointPlots {

    private final List<Sample> checkpoints;

    /**
     * @param checkpoints at least one, oldest first
     */
    public CheckpointPlots(List<Sample> checkpoints) {
        this.checkpoints = List.copyOf(checkpoints);
    }

    /** Writes {@code checkpoint-size.svg} and {@code checkpoint-duration.svg}. */
    public void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (Map.Entry<String, Plot> plot : all().entrySet()) {
            Files.writeString(folder.resolve(plot.getKey() + ".svg"), plot.getValue().svg());
        }
    }

    Map<String, Plot> all() {
        Map<String, Plot> plots = new TreeMap<>();
        plots.put("checkpoint-size", plot("Checkpoint size", "MiB", s -> s.stateBytes() / 0x1p20));
        plots.put("checkpoint-duration", plot("Checkpoint duration", "ms", Sample::durationMs));
        return plots;
    }

    private Plot plot(String title, String unit, ToDoubleFunction<Sample> figure) {
        return new Plot(
                        title,
                        "checkpoint",
                        unit,
                        false,
                        checkpoints.stream().map(sample -> Long.toString(sample.id())).toList())
                .measured(title, checkpoints.stream().mapToDouble(figure).boxed().toList());
    }
}
