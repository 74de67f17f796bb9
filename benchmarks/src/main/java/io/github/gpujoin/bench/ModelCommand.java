// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.benchmarks.model.Constant;
import io.github.gpujoin.benchmarks.model.Grid;
import io.github.gpujoin.benchmarks.model.PerformanceModel;
import io.github.gpujoin.benchmarks.model.PublishedPoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Compares the cost model with published results, and predicts with it. */
@Command(
        name = "model",
        description = {
            "Compares a cost model of joins on several GPUs and nodes with published and measured"
                    + " results, and predicts others. Measures nothing.",
            "Fails if a result that the model claims to reproduce differs by more than 15 %%."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class ModelCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Option(names = "--docs", description = "Folder to which performance-model.md is written.")
    private @Nullable Path docs;

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    @Override
    public Integer call() throws Exception {
        if (docs != null && !Files.isDirectory(docs)) {
            throw new ParameterException(spec.commandLine(), "--docs is no folder: " + docs);
        }
        PerformanceModel model = new PerformanceModel();
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        model.constants().forEach(constant -> add(observations, constant));
        model.points().forEach(point -> add(observations, point));
        model.predictions().forEach(grid -> add(observations, grid));
        if (json != null) {
            observations.write(json);
        }
        if (docs != null) {
            model.write(docs);
        }
        return exitCode(model.points());
    }

    private static void add(Observations observations, Constant constant) {
        observations.add(
                "model-constant",
                "name",
                word(constant.name()),
                "value",
                constant.value(),
                "unit",
                unit(constant.unit()));
    }

    private static void add(Observations observations, PublishedPoint point) {
        observations.add(
                "model-point",
                "id",
                point.id(),
                "published",
                point.published(),
                "model",
                point.modelled(),
                "unit",
                unit(point.unit()),
                "error_percent",
                Math.rint(point.errorPercent() * 100) / 100,
                "limit_percent",
                PublishedPoint.LIMIT_PERCENT,
                "use",
                point.use().label(),
                "check",
                point.check());
    }

    private static void add(Observations observations, Grid grid) {
        for (Grid.Row row : grid.rows()) {
            for (int i = 0; i < grid.columns().size(); i++) {
                observations.add(
                        "model-prediction",
                        "grid",
                        grid.id(),
                        "case",
                        word(row.label()),
                        word(grid.parameter()).replace('-', '_'),
                        grid.columns().get(i),
                        "value",
                        row.values().get(i),
                        "unit",
                        unit(grid.unit()));
            }
        }
    }

    private int exitCode(List<PublishedPoint> points) {
        String failed =
                points.stream()
                        .filter(point -> !point.isAcceptable())
                        .map(point -> "%s=%.1f %%".formatted(point.id(), point.errorPercent()))
                        .collect(Collectors.joining(", "));
        if (failed.isEmpty()) {
            return 0;
        }
        spec.commandLine()
                .getErr()
                .printf(
                        Locale.ROOT,
                        "The model differs from results by more than %.0f %%: %s. Correct its inputs"
                                + " or stages.%n",
                        PublishedPoint.LIMIT_PERCENT,
                        failed);
        return 1;
    }

    /** A value of a RESULT line has no spaces. */
    private static String word(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.^]+", "-").replaceAll("-$", "");
    }

    private static String unit(String unit) {
        return unit.isEmpty() ? "-" : unit.replace(" ", "");
    }
}
