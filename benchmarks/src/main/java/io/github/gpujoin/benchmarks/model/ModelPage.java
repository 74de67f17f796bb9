// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import io.github.gpujoin.benchmarks.model.PublishedPoint.Use;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;

/** docs/performance-model.md. */
final class ModelPage {

    private static final String HEAD =
            """
            # Performance model

            Made by `bin/bench model --docs docs`; not to be edited. `bin/bench model` prints the same figures, and fails if a
            point that the model claims to reproduce differs by more than 15 %.

            The model computes the time of a join from bytes, rows and messages, and from rates of memory, buses and networks.
            It is compared with published joins of other systems, and predicts joins of this project on more devices than were
            measured. [performance.md](performance.md) has measurements.

            ## Sources

            * Gao, Sakharnykh: Scaling Joins to a Thousand GPUs. ADMS 2021. A repartitioned join on up to 1024 A100s.
            * Thostrup et al.: Distributed GPU Joins on Fast RDMA-capable Networks. SIGMOD 2023. A pipelined join on 2 to 10
              nodes, each with a V100 and a card of 100 Gb/s.
            * This project's results in [benchmarks/results](../benchmarks/results).

            ## Points

            "Fitted": a constant was fitted to the point. "Validated": none was. "Beyond": the source states an effect without a
            figure, so the model omits it; such a point does not fail the command. "~": the source rounds the figure.

            """;

    private static final String OMITTED =
            """

            ### Published, but not compared

            * Both papers draw most results as curves, and no value was read off a curve. So no point of fewer than 512 GPUs
              (Gao, Sakharnykh, figures 6 and 8) is compared, and no throughput of one number of nodes (Thostrup et al., figure
              12). The predictions below have the same axes as these figures.
            * 547 G tuples/s on 1024 GPUs (Gao, Sakharnykh, section 7): the text does not state the size of the tables.
            * 1.77 times by compression (section 6.4) is the quotient of two points above.
            * Speedups over a CPU join (Thostrup et al.): the model has no CPU join.

            ## Stages

            A rate bounds each step. Steps follow one another, or overlap, as the algorithm states.

            | join | steps that follow one another | steps that overlap |
            |---|---|---|
            | Gao, Sakharnykh, one level | partition, exchange, build, two probes, materialise | in the exchange: network, bus, NVLink |
            | the same, two levels | partition, network, partition, NVLink, then the local join | |
            | Thostrup et al. | histogram; build side; probe side | for each side: CPU pass, network, bus, kernel |
            | our facts from rings | | bus, network, look-ups |
            | our build | upload, partition, exchange, table, all-gather | |
            | our join of resident tables | partition, exchange, two radix passes, join; or the first pass is the exchange | first pass: memory, stores to peers |

            Assumptions: keys are uniform. Every random access costs a gather, even where equal keys are neighbours, as in
            `lineitem`. A network is a full fat tree. The rate of the A100 cluster's network is the same for 16 and 1024 GPUs.
            Enough threads fill pinned buffers. A device gathers from its peers at the rate of two devices, however many there are.

            """;

    private final PerformanceModel model;
    private final StringBuilder page = new StringBuilder();

    ModelPage(PerformanceModel model) {
        this.model = model;
    }

    String markdown() {
        page.setLength(0);
        page.append(HEAD);
        appendPoints();
        page.append(OMITTED);
        appendConstants();
        appendInputs();
        page.append("## Predictions\n");
        model.predictions().forEach(this::appendGrid);
        return page.toString();
    }

    private void appendPoints() {
        page.append("| point | source | published or measured | model | error | use |\n");
        page.append("|---|---|---:|---:|---:|---|\n");
        for (PublishedPoint point : model.points()) {
            row(
                    point.what(),
                    point.source(),
                    (point.approximate() ? "~" : "")
                            + number(point.published())
                            + " "
                            + point.unit(),
                    number(point.modelled()) + " " + point.unit(),
                    percent(point.errorPercent()),
                    point.use().label());
        }
        appendSummary();
        for (PublishedPoint point : model.points()) {
            if (!point.remark().isEmpty()) {
                page.append("* ").append(point.what()).append(": ");
                page.append(point.remark()).append('\n');
            }
        }
    }

    private void appendSummary() {
        page.append(
                String.format(
                        Locale.ROOT,
                        "%n%d of %d points are within %.0f %%: %d validated, and %d to which %d constants"
                                + " were fitted. Remarks:%n%n",
                        count(Use.VALIDATED) + count(Use.FITTED),
                        model.points().size(),
                        PublishedPoint.LIMIT_PERCENT,
                        count(Use.VALIDATED),
                        count(Use.FITTED),
                        model.constants().size()));
    }

    private long count(Use use) {
        return model.points().stream()
                .filter(point -> point.use() == use && point.isAcceptable())
                .count();
    }

    private void appendConstants() {
        page.append("## Fitted constants\n\n");
        page.append("| constant | value | fitted to |\n|---|---:|---|\n");
        for (Constant constant : model.constants()) {
            row(
                    constant.name(),
                    (number(constant.value()) + " " + constant.unit()).strip(),
                    constant.fittedTo());
        }
        page.append(
                String.format(
                        Locale.ROOT,
                        "%nThe network of the A100 cluster reaches %.0f %% of a card's rate. Rates of"
                                + " kernels are not fitted.%n%n",
                        100 * model.thousandGpus().network().bytesPerS() / Inputs.HDR.base()));
    }

    private void appendInputs() {
        page.append("## Inputs\n\n");
        page.append(
                "\"Measured\": by this project. \"Read\": in a publication. \"Scaled\": a specified or");
        page.append(" read rate times a measured share.\n\n");
        page.append("| input | value | origin | source |\n|---|---:|---|---|\n");
        for (Input input : Inputs.all()) {
            row(
                    input.name(),
                    (fourDigits(input.value()) + " " + input.unit().label()).strip(),
                    input.origin().label(),
                    input.source());
        }
        page.append('\n');
    }

    private void appendGrid(Grid grid) {
        page.append("\n### ").append(grid.title()).append("\n\n");
        page.append("| ").append(grid.unit()).append("; ").append(grid.parameter()).append(": ");
        page.append("| ").append(String.join(" | ", grid.columns())).append(" |\n");
        page.append("|---").append("|---:".repeat(grid.columns().size())).append("|\n");
        for (Grid.Row row : grid.rows()) {
            List<String> cells = row.values().stream().map(ModelPage::number).toList();
            page.append("| ").append(row.label()).append(" | ");
            page.append(String.join(" | ", cells)).append(" |\n");
        }
    }

    private void row(String... cells) {
        page.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    private static String fourDigits(double value) {
        return new BigDecimal(value).round(new MathContext(4)).stripTrailingZeros().toPlainString();
    }

    private static String percent(double value) {
        double rounded = Math.rint(value * 10) / 10;
        return String.format(Locale.ROOT, rounded == 0 ? "0 %%" : "%+.1f %%", rounded);
    }

    private static String number(double value) {
        if (value == Math.rint(value)) {
            return String.valueOf((long) value);
        }
        double size = Math.abs(value);
        String format = size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }
}
