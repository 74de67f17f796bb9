// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** The fitted model: published and measured points beside its own, and predictions. Immutable. */
public final class PerformanceModel {

    private static final String TUPLES = "G tuples/s";
    private static final List<Integer> GPUS = List.of(1, 8, 16, 64, 256, 512, 1024);
    private static final List<Integer> NODES = List.of(2, 4, 6, 8, 10);
    private static final List<Integer> MILLION_ROWS = List.of(1, 5, 25, 100, 200);

    private final ThousandGpus thousandGpus = ThousandGpus.fitted();
    private final RdmaJoin rdmaJoin = RdmaJoin.fitted();

    ThousandGpus thousandGpus() {
        return thousandGpus;
    }

    RdmaJoin rdmaJoin() {
        return rdmaJoin;
    }

    /** Returns all published and measured points, each with the model's figure. */
    public List<PublishedPoint> points() {
        return Stream.of(thousandGpus.points(), rdmaJoin.points(), OwnJoins.points())
                .flatMap(List::stream)
                .toList();
    }

    /** Returns the constants that were fitted to some of the points. */
    public List<Constant> constants() {
        return Stream.of(thousandGpus.constants(), rdmaJoin.constants())
                .flatMap(List::stream)
                .toList();
    }

    /** Returns what the model predicts, this project's joins first. */
    public List<Grid> predictions() {
        return Stream.concat(
                        OwnJoins.predictions().stream(),
                        Stream.of(weakScaling(), tableSizes(), scaleOut()))
                .toList();
    }

    /** Writes docs/performance-model.md. */
    public void write(Path docs) throws IOException {
        Files.writeString(docs.resolve("performance-model.md"), markdown());
    }

    String markdown() {
        return new ModelPage(this).markdown();
    }

    private Grid weakScaling() {
        return new Grid(
                "weak-scaling-a100",
                "Gao, Sakharnykh, figures 6 and 8: weak scaling on A100s",
                "GPUs",
                names(GPUS),
                TUPLES,
                List.of(
                        scaling(
                                "random keys, one level",
                                ThousandGpus.RANDOM,
                                RepartitionedJoin::oneLevel),
                        scaling(
                                "random keys, two levels",
                                ThousandGpus.RANDOM,
                                RepartitionedJoin::twoLevel),
                        scaling("TPC-H, one level", ThousandGpus.TPCH, RepartitionedJoin::oneLevel),
                        scaling(
                                "TPC-H, two levels",
                                ThousandGpus.TPCH,
                                RepartitionedJoin::twoLevel),
                        scaling(
                                "TPC-H, compressed",
                                ThousandGpus.TPCH,
                                join -> join.compressed(thousandGpus.compression()))));
    }

    private Grid.Row scaling(
            String label, TablePair tables, Function<RepartitionedJoin, Stage> algorithm) {
        return new Grid.Row(
                label, GPUS.stream().map(gpus -> throughput(gpus, tables, algorithm)).toList());
    }

    private double throughput(
            int gpus, TablePair tables, Function<RepartitionedJoin, Stage> algorithm) {
        return ThousandGpus.gTuplesPerS(
                gpus, tables, algorithm.apply(thousandGpus.join(gpus, tables)));
    }

    private Grid tableSizes() {
        return new Grid(
                "table-size-a100",
                "Gao, Sakharnykh, figure 7: random keys on 512 A100s",
                "M rows of each table and GPU",
                names(MILLION_ROWS),
                TUPLES,
                List.of(
                        sizes("one level", RepartitionedJoin::oneLevel),
                        sizes("two levels", RepartitionedJoin::twoLevel)));
    }

    private Grid.Row sizes(String label, Function<RepartitionedJoin, Stage> algorithm) {
        return new Grid.Row(
                label,
                MILLION_ROWS.stream()
                        .map(
                                millions ->
                                        throughput(
                                                ThousandGpus.CROSSING_DEVICES,
                                                ThousandGpus.RANDOM.withRows(
                                                        1e6 * millions, 1e6 * millions),
                                                algorithm))
                        .toList());
    }

    private Grid scaleOut() {
        return new Grid(
                "scale-out-v100",
                "Thostrup et al., figure 12: 300 M x 1200 M rows a node, one V100 a node",
                "nodes",
                names(NODES),
                TUPLES,
                List.of(
                        new Grid.Row(
                                "pipelined join",
                                NODES.stream().map(rdmaJoin::gTuplesPerS).toList())));
    }

    private static List<String> names(List<Integer> counts) {
        return counts.stream().map(String::valueOf).toList();
    }
}
