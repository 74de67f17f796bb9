// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import static java.util.stream.Collectors.joining;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.flink.emit.GroupFields;
import io.github.gpujoin.flink.plan.JoinInput.Packed;
import io.github.gpujoin.flink.plan.JoinInputs.SideColumn;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordField;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Groups and sums of a join's results as the user described them, by columns of any side. Mutable;
 * used while the job graph is built.
 */
public final class Grouping {

    private record NamedSum(String name, List<String> factors) {}

    private final List<Selection> columns = new ArrayList<>();
    private final List<NamedSum> sums = new ArrayList<>();
    private final BuiltJoin built = new BuiltJoin();

    /**
     * Groups results by columns; without any, all results form one group.
     *
     * @param columns as {@code "column"} or {@code "column AS name"}
     */
    public Grouping(String... columns) {
        for (String column : columns) {
            this.columns.add(Selection.parse(column));
        }
    }

    public BuiltJoin built() {
        return built;
    }

    /**
     * Adds a sum of the product of columns. Without columns, it is a count.
     *
     * @param name in the result
     */
    public void sum(String name, String... factors) {
        sums.add(new NamedSum(name, List.of(factors)));
    }

    /**
     * Requests the used columns from each side's chunks.
     *
     * @throws IllegalArgumentException if a side selects columns, or a name is unknown or ambiguous
     */
    void useColumns(JoinInputs sides) {
        for (DimensionInput<?> dimension : sides.dimensions()) {
            requireNothingSelected(dimension.input());
        }
        requireNothingSelected(sides.facts());
        List<String> used = new ArrayList<>();
        columns.forEach(selection -> used.add(selection.column()));
        sums.forEach(sum -> used.addAll(sum.factors()));
        for (String name : used) {
            SideColumn column = sides.find(name);
            sides.input(column.side()).use(column.column());
        }
    }

    private static void requireNothingSelected(JoinInput<?> side) {
        if (!side.selections().isEmpty()) {
            throw new IllegalArgumentException(
                    "Grouped join selects columns: side=%s, selected=%s. Remove .select(...), or move the columns to .groupBy(...)."
                            .formatted(
                                    side.name(),
                                    side.selections().stream().map(Selection::column).toList()));
        }
    }

    /**
     * Returns the aggregation for the engine.
     *
     * @param packed content of the chunks, by side
     */
    Aggregation aggregation(JoinInputs sides, IntFunction<Packed> packed) {
        List<JoinColumn> groupColumns =
                columns.stream().map(c -> joinColumn(c.column(), sides, packed)).toList();
        List<Aggregate> aggregates =
                sums.stream()
                        .map(
                                sum ->
                                        new Aggregate(
                                                sum.factors().stream()
                                                        .map(f -> joinColumn(f, sides, packed))
                                                        .toList()))
                        .toList();
        return new Aggregation(groupColumns, aggregates);
    }

    private static JoinColumn joinColumn(
            String name, JoinInputs sides, IntFunction<Packed> packed) {
        SideColumn column = sides.find(name);
        StarJoinPipeline.requireNotNull(
                packed.apply(column.side()), column.column(), "group or sum");
        int index = packed.apply(column.side()).column(column.column());
        return new JoinColumn(column.side(), index);
    }

    /** Returns the columns of the groups. */
    List<SideColumn> groupColumns(JoinInputs sides) {
        return columns.stream().map(selection -> sides.find(selection.column())).toList();
    }

    /** Returns the factors of each sum; none of a count. */
    List<List<SideColumn>> factors(JoinInputs sides) {
        return sums.stream().map(sum -> sum.factors().stream().map(sides::find).toList()).toList();
    }

    /** Returns the group columns of texts, {@code dimension.column}, each once. */
    List<String> textColumns(JoinInputs sides, IntFunction<Packed> packed) {
        return columns.stream()
                .map(Selection::column)
                .filter(name -> field(name, sides, packed).kind() == FieldKind.STRING)
                .map(name -> qualified(name, sides))
                .distinct()
                .toList();
    }

    private static RecordField field(String name, JoinInputs sides, IntFunction<Packed> packed) {
        SideColumn column = sides.find(name);
        Packed side = packed.apply(column.side());
        return side.fields().get(side.column(column.column()));
    }

    /** Returns the columns of the groups and of the sums as text, without names in the result. */
    String definition(JoinInputs sides) {
        return "by "
                + columns.stream().map(column -> qualified(column.column(), sides)).toList()
                + " with "
                + sums.stream()
                        .map(
                                sum ->
                                        sum.factors().isEmpty()
                                                ? "count"
                                                : sum.factors().stream()
                                                        .map(factor -> qualified(factor, sides))
                                                        .collect(joining(" * ", "sum(", ")")))
                        .toList();
    }

    private static String qualified(String name, JoinInputs sides) {
        SideColumn column = sides.find(name);
        return sides.input(column.side()).name() + "." + column.column();
    }

    /**
     * Returns the fields of result Rows. A column without an alias has its own name, without the
     * name of its side.
     */
    GroupFields fields(JoinInputs sides, IntFunction<Packed> packed) {
        List<RecordField> fields = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Selection selection : columns) {
            SideColumn column = sides.find(selection.column());
            fields.add(field(selection.column(), sides, packed));
            boolean hasAlias = !selection.name().equals(selection.column());
            names.add(hasAlias ? selection.name() : column.column());
        }
        return new GroupFields(fields, names, sums.stream().map(NamedSum::name).toList());
    }
}
