// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.examples.tbl.TblType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A star schema drawn from a seed, with its files and a query in SQL. Table {@code f} holds the
 * facts; dimension {@code d} is joined on {@code f_k<d> = d<d>_key}; every table has a column
 * {@code _f} that is filtered to {@value #FILTER_FROM} to {@value #FILTER_TO}.
 */
final class RandomStar {

    static final int FILTER_FROM = 0;
    static final int FILTER_TO = 6;

    private static final String[] TEXTS = {
        "",
        "plain",
        "a \"quoted\" word",
        "\"",
        "comma, comma",
        "'single'",
        " spaces ",
        "NULL",
        "back\\slash",
        "\u00e9t\u00e9",
        "\u6f22\u5b57",
        "\ud83d\ude00",
        "x".repeat(300)
    };

    private static final long[] EXTREMES = {
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        Long.MIN_VALUE + 1,
        -1,
        0,
        1,
        1L << 32,
        -(1L << 32),
        Integer.MIN_VALUE,
        Integer.MAX_VALUE
    };

    /** One dimension. */
    record Dimension(TblTable table, JoinKind kind, List<String> selected) {}

    private final Random random;
    private final boolean trailingBar;
    private final String lineEnd;
    private final TblTable facts;
    private final List<String> factSelected = new ArrayList<>();
    private final List<Dimension> dimensions = new ArrayList<>();

    RandomStar(long seed, Path directory) throws IOException {
        random = new Random(seed);
        trailingBar = random.nextBoolean();
        lineEnd = random.nextInt(4) == 0 ? "\r\n" : "\n";
        int count = 1 + random.nextInt(4);
        List<TblColumn> factColumns = new ArrayList<>();
        List<long[]> keys = new ArrayList<>();
        for (int d = 0; d < count; d++) {
            boolean wide = random.nextBoolean();
            keys.add(keys(wide));
            factColumns.add(new TblColumn("f_k" + d, keyType(wide), random.nextInt(3) == 0));
            dimensions.add(dimension(d, keyType(wide)));
        }
        factColumns.add(TblColumn.of("f_f", TblType.INT32));
        for (int i = 0; i <= random.nextInt(3); i++) {
            factColumns.add(payload("f_p" + i));
            factSelected.add("f_p" + i);
        }
        for (int d = 0; d < count; d++) {
            if (random.nextInt(3) == 0) {
                factSelected.add("f_k" + d);
            }
        }
        facts = new TblTable("f", factColumns);
        int copies = count > 2 ? 2 : 3;
        for (int d = 0; d < count; d++) {
            writeDimension(directory, dimensions.get(d).table(), keys.get(d), copies);
        }
        writeFacts(directory, keys);
    }

    boolean trailingBar() {
        return trailingBar;
    }

    TblTable facts() {
        return facts;
    }

    List<String> factSelected() {
        return factSelected;
    }

    List<Dimension> dimensions() {
        return dimensions;
    }

    List<TblTable> tables() {
        List<TblTable> tables = new ArrayList<>(List.of(facts));
        dimensions.forEach(dimension -> tables.add(dimension.table()));
        return tables;
    }

    /** Columns of the result, in order. */
    List<TblColumn> resultColumns() {
        List<TblColumn> columns = new ArrayList<>();
        for (String name : factSelected) {
            columns.add(column(facts, name));
        }
        for (Dimension dimension : dimensions) {
            dimension.selected().forEach(name -> columns.add(column(dimension.table(), name)));
        }
        return columns;
    }

    String sql() {
        String columns =
                resultColumns().stream().map(TblColumn::name).collect(Collectors.joining(", "));
        return "select " + columns + fromAndWhere();
    }

    /** Columns that results can be grouped by and whose sums stay far from 64 bits. */
    List<String> groupable() {
        List<String> columns = new ArrayList<>(List.of("f_f"));
        for (int d = 0; d < dimensions.size(); d++) {
            if (dimensions.get(d).kind() == JoinKind.INNER) {
                columns.add("d" + d + "_f");
            }
        }
        List<String> nullable = new ArrayList<>();
        dimensions.stream()
                .filter(dimension -> dimension.kind() == JoinKind.LEFT)
                .forEach(dimension -> nullable.addAll(dimension.selected()));
        for (TblColumn column : resultColumns()) {
            if (nullable.contains(column.name())) {
                continue;
            }
            if (column.type() == TblType.INT32 && !column.nullable()) {
                columns.add(column.name());
            }
        }
        return columns;
    }

    /** Text columns of inner-joined dimensions, by which results can be grouped. */
    List<String> groupableTexts() {
        List<String> columns = new ArrayList<>();
        for (Dimension dimension : dimensions) {
            for (String name : dimension.selected()) {
                if (dimension.kind() == JoinKind.INNER
                        && column(dimension.table(), name).type() == TblType.TEXT) {
                    columns.add(name);
                }
            }
        }
        return columns;
    }

    /**
     * The query of a count, {@code sum(f_f)} and {@code sum(f_f * factor)} by groups of which there
     * are rows.
     */
    String groupSql(List<String> groupBy, String factor) {
        String columns = groupBy.stream().map(name -> name + ", ").collect(Collectors.joining());
        String groups = groupBy.isEmpty() ? "" : " group by " + String.join(", ", groupBy);
        return "select "
                + columns
                + "count(*), cast(sum(f_f) as bigint), "
                + ("cast(sum(cast(f_f as bigint) * " + factor + ") as bigint)")
                + fromAndWhere()
                + groups
                + " having count(*) > 0";
    }

    private String fromAndWhere() {
        StringBuilder from = new StringBuilder("f");
        StringBuilder where = new StringBuilder("f_f" + filter());
        for (int d = 0; d < dimensions.size(); d++) {
            String on = "d" + d + "_key = f_k" + d;
            String filtered = "d" + d + "_f" + filter();
            String matches = "(select * from d" + d + " where " + on + " and " + filtered + ")";
            switch (dimensions.get(d).kind()) {
                case INNER -> {
                    from.append(" join d" + d + " on " + on);
                    where.append(" and " + filtered);
                }
                case LEFT -> from.append(" left join d" + d + " on " + on + " and " + filtered);
                case SEMI -> where.append(" and exists " + matches);
                case ANTI -> where.append(" and not exists " + matches);
            }
        }
        return " from " + from + " where " + where;
    }

    private static String filter() {
        return " between " + FILTER_FROM + " and " + FILTER_TO;
    }

    private static TblColumn column(TblTable table, String name) {
        return table.columns().stream().filter(c -> c.name().equals(name)).findFirst().get();
    }

    private TblType keyType(boolean wide) {
        return wide || random.nextInt(4) == 0 ? TblType.INT64 : TblType.INT32;
    }

    private Dimension dimension(int number, TblType keyType) {
        String prefix = "d" + number + "_";
        List<TblColumn> columns = new ArrayList<>();
        List<String> selected = new ArrayList<>();
        columns.add(TblColumn.of(prefix + "f", TblType.INT32));
        columns.add(new TblColumn(prefix + "key", keyType, random.nextInt(4) == 0));
        JoinKind[] kinds = JoinKind.values();
        JoinKind kind = random.nextBoolean() ? JoinKind.INNER : kinds[random.nextInt(kinds.length)];
        if (kind.keepsPayload() && random.nextInt(3) == 0) {
            selected.add(prefix + "key");
        }
        for (int i = 0; i < random.nextInt(4); i++) {
            columns.add(payload(prefix + "p" + i));
            if (kind.keepsPayload()) {
                selected.add(prefix + "p" + i);
            }
        }
        return new Dimension(new TblTable("d" + number, columns), kind, selected);
    }

    private TblColumn payload(String name) {
        TblType[] types = TblType.values();
        return new TblColumn(name, types[random.nextInt(types.length)], random.nextBoolean());
    }

    /** Distinct keys: none, one, dense, sparse beyond 32 bits, negative, or extreme. */
    private long[] keys(boolean wide) {
        int count = random.nextInt(8) == 0 ? random.nextInt(2) : 1 + random.nextInt(150);
        int style = random.nextInt(wide ? 4 : 2);
        return IntStream.range(0, count)
                .mapToLong(
                        i ->
                                switch (style) {
                                    case 0 -> i;
                                    case 1 -> -3L * i;
                                    case 2 -> random.nextLong();
                                    default -> EXTREMES[i % EXTREMES.length];
                                })
                .distinct()
                .toArray();
    }

    private void writeDimension(Path directory, TblTable table, long[] keys, int copies)
            throws IOException {
        boolean duplicates = random.nextBoolean();
        List<String> lines = new ArrayList<>();
        for (long key : keys) {
            for (int i = duplicates ? random.nextInt(copies) : 0; i >= 0; i--) {
                lines.add(line(table, List.of(String.valueOf(key))));
            }
        }
        if (column(table, table.name() + "_key").nullable() && !lines.isEmpty()) {
            lines.add(line(table, List.of("")));
        }
        write(directory, table, lines);
    }

    private void writeFacts(Path directory, List<long[]> keys) throws IOException {
        int count = random.nextInt(12) == 0 ? random.nextInt(2) : random.nextInt(1_200);
        boolean oneKey = random.nextInt(6) == 0;
        List<String> drawn = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int row = 0; row < count; row++) {
            if (drawn.isEmpty() || !oneKey) {
                drawn = drawKeys(keys);
            }
            lines.add(line(facts, drawn));
        }
        write(directory, facts, lines);
    }

    private List<String> drawKeys(List<long[]> keys) {
        List<String> drawn = new ArrayList<>();
        for (int d = 0; d < keys.size(); d++) {
            long[] known = keys.get(d);
            if (facts.columns().get(d).nullable() && random.nextInt(10) == 0) {
                drawn.add("");
            } else if (known.length == 0 || random.nextInt(5) == 0) {
                drawn.add(String.valueOf(random.nextInt()));
            } else {
                drawn.add(String.valueOf(known[random.nextInt(known.length)]));
            }
        }
        return drawn;
    }

    /** A line of random values, with the given ones in the key columns. */
    private String line(TblTable table, List<String> keys) {
        List<String> values = new ArrayList<>();
        int nextKey = 0;
        for (TblColumn column : table.columns()) {
            boolean key = column.name().contains("_k");
            values.add(key ? keys.get(nextKey++) : value(column));
        }
        return String.join("|", values) + (trailingBar ? "|" : "");
    }

    private String value(TblColumn column) {
        if (column.name().endsWith("_f")) {
            return String.valueOf(random.nextInt(10));
        }
        if (column.nullable() && random.nextInt(5) == 0) {
            return "";
        }
        return switch (column.type()) {
            case INT32 -> String.valueOf(random.nextInt());
            case INT64 ->
                    String.valueOf(
                            random.nextInt(4) == 0
                                    ? EXTREMES[random.nextInt(EXTREMES.length)]
                                    : random.nextLong());
            case HUNDREDTHS -> random.nextInt(2_000) - 1_000 + "." + (10 + random.nextInt(90));
            case DATE -> "19" + (10 + random.nextInt(90)) + "-0" + (1 + random.nextInt(9)) + "-28";
            case TEXT -> TEXTS[random.nextInt(TEXTS.length)];
        };
    }

    private void write(Path directory, TblTable table, List<String> lines) throws IOException {
        String text = String.join(lineEnd, lines);
        boolean lastEnd = !lines.isEmpty() && random.nextInt(4) > 0;
        Files.writeString(directory.resolve(table.fileName()), lastEnd ? text + lineEnd : text);
    }
}
