// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import io.github.gpujoin.hybrid.SpillCost;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Writes an explanation as text; see {@link JoinExplanation#toString()}. */
final class ExplanationText {

    private static final List<String> HEADINGS =
            List.of(
                    "dimension",
                    "kind",
                    "distribution",
                    "why",
                    "partitions",
                    "engine",
                    "why",
                    "rows",
                    "bytes");

    /** Heading of the last column, which is shown if there may be several devices. */
    private static final String SPREAD = "spread";

    private static final String UNKNOWN = "-";

    /** Part of the names of engines that use a GPU. */
    private static final String GPU = "gpu";

    private final JoinExplanation explanation;
    private final Set<ReasonCode> codes = EnumSet.noneOf(ReasonCode.class);
    private final Set<DeviceSpread> spreads = EnumSet.noneOf(DeviceSpread.class);

    ExplanationText(JoinExplanation explanation) {
        this.explanation = explanation;
    }

    @Override
    public String toString() {
        explanation.dimensions().stream()
                .flatMap(dimension -> dimension.classes().stream())
                .map(PartitionClass::spread)
                .filter(spread -> spread != DeviceSpread.NONE)
                .forEach(spreads::add);
        List<List<String>> lines = new ArrayList<>();
        lines.add(withSpread(HEADINGS, SPREAD));
        for (DimensionExplanation dimension : explanation.dimensions()) {
            for (PartitionClass joined : dimension.classes()) {
                lines.add(withSpread(cells(dimension, joined), spread(joined)));
            }
        }
        ReasonCode unaligned = explanation.unalignedCheckpoints();
        codes.add(unaligned);
        StringBuilder text = new StringBuilder();
        text.append("Star join ").append(explanation.join()).append(", ");
        text.append(explanation.stage()).append(": transport=").append(explanation.transport());
        text.append(", unaligned checkpoints=");
        text.append(unaligned == ReasonCode.ENABLED ? "yes" : "no").append(" (");
        text.append(unaligned).append(')');
        if (explanation.partitionedDimension() != JoinExplanation.NONE) {
            codes.add(explanation.chunks());
            boolean many = explanation.chunks() == ReasonCode.MANY_KEY_GROUPS;
            text.append(", chunks of a ").append(many ? "subtask" : "key group");
            text.append(" (").append(explanation.chunks()).append(')');
        }
        append(text, lines);
        appendFilters(text);
        if (explanation.partitionRows().partitions() > 0) {
            text.append("\n  ").append(explanation.partitionRows());
        }
        if (mayUseGpu()) {
            text.append("\n  weight on the bus of a GPU: ").append(explanation.gpuWeight());
        }
        if (!explanation.textGroups().isEmpty()) {
            text.append("\n  text groups, added up by codes: ");
            text.append(String.join(", ", explanation.textGroups()));
        }
        for (DimensionExplanation dimension : explanation.dimensions()) {
            appendSpilled(text, dimension);
        }
        codes.forEach(
                code -> text.append("\n  ").append(code).append(": ").append(code.sentence()));
        spreads.forEach(
                spread ->
                        text.append("\n  ").append(spread).append(": ").append(spread.sentence()));
        return text.toString();
    }

    private boolean mayUseGpu() {
        return explanation.dimensions().stream()
                .flatMap(dimension -> dimension.classes().stream())
                .anyMatch(joined -> joined.engine().contains(GPU));
    }

    private void appendFilters(StringBuilder text) {
        explanation.dimensions().forEach(dimension -> codes.add(dimension.filter()));
        if (!explanation.dimensions().isEmpty()) {
            text.append("\n  ").append(explanation.filtersOfFacts());
        }
        if (!explanation.sourceConditions().isEmpty()) {
            text.append("\n  conditions for a chained source of facts: ");
            text.append(String.join(", ", explanation.sourceConditions()));
        }
    }

    /** By how much it is slower that rows are joined from state. */
    private static void appendSpilled(StringBuilder text, DimensionExplanation dimension) {
        long all = dimension.classes().stream().mapToLong(PartitionClass::bytes).sum();
        long spilled =
                dimension.classes().stream()
                        .filter(joined -> joined.why() == ReasonCode.OVER_HOST_BUDGET)
                        .mapToLong(PartitionClass::bytes)
                        .sum();
        if (spilled > 0) {
            text.append(
                    String.format(
                            Locale.ROOT,
                            "\n  %s: %.0f %% of the rows are joined from state; facts are expected to"
                                    + " take %.1f times as long as with memory for all of them",
                            dimension.name(),
                            100.0 * spilled / all,
                            SpillCost.timesAsLong(spilled, all)));
        }
    }

    private List<String> cells(DimensionExplanation dimension, PartitionClass joined) {
        codes.add(dimension.why());
        codes.add(joined.why());
        boolean first = joined == dimension.classes().get(0);
        return List.of(
                first ? dimension.name() : "",
                first ? dimension.kind() : "",
                first ? dimension.distribution().name() : "",
                first ? dimension.why().name() : "",
                joined.partitions() == PartitionClass.ALL ? "all" : joined.partitions() + "",
                joined.engine(),
                joined.why().name(),
                first ? rows(dimension.rows()) : "",
                joined.bytes() == PartitionClass.UNKNOWN
                        ? expected(dimension.expectedBytes())
                        : bytes(joined.bytes()));
    }

    private List<String> withSpread(List<String> cells, String spread) {
        if (spreads.isEmpty()) {
            return cells;
        }
        List<String> all = new ArrayList<>(cells);
        all.add(spread);
        return all;
    }

    private static String spread(PartitionClass joined) {
        if (joined.spread() == DeviceSpread.NONE) {
            return UNKNOWN;
        }
        return joined.devices().isEmpty()
                ? joined.spread().name()
                : joined.spread() + " on " + String.join(", ", joined.devices());
    }

    private static String rows(long rows) {
        return rows == PartitionClass.UNKNOWN ? UNKNOWN : String.valueOf(rows);
    }

    private static String expected(long bytes) {
        return bytes == PartitionClass.UNKNOWN ? UNKNOWN : bytes(bytes) + " expected";
    }

    /** As people read it; three figures are enough. */
    private static String bytes(long bytes) {
        if (bytes < 1 << 10) {
            return bytes + " B";
        }
        double size = bytes;
        String unit = "";
        for (String next : List.of("KiB", "MiB", "GiB", "TiB")) {
            if (size < 1 << 10 && !unit.isEmpty()) {
                break;
            }
            size /= 1 << 10;
            unit = next;
        }
        return String.format(Locale.ROOT, "%.1f %s", size, unit);
    }

    private static void append(StringBuilder text, List<List<String>> lines) {
        int[] widths = new int[lines.get(0).size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        for (List<String> line : lines) {
            StringBuilder padded = new StringBuilder("  ");
            for (int i = 0; i < widths.length; i++) {
                padded.append(line.get(i)).append(" ".repeat(widths[i] - line.get(i).length() + 2));
            }
            text.append('\n').append(padded.toString().stripTrailing());
        }
    }
}
