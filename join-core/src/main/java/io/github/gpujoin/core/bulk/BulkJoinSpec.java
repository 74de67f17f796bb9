// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnChecks;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a bulk join joins: rows whose key columns are pairwise equal. Integers are equal by value,
 * whatever their widths; texts and bytes byte by byte. Keys may repeat in both inputs.
 *
 * @param keysWithEqualNulls positions among the key columns whose nulls are equal ({@code IS NOT
 *     DISTINCT FROM}). A row with a null in another key column has no match.
 */
public record BulkJoinSpec(
        BulkInput left,
        BulkInput right,
        BulkJoinKind kind,
        Set<Integer> keysWithEqualNulls,
        BulkOutput output)
        implements Serializable {

    /**
     * Checks the inputs against each other, and the columns of the output.
     *
     * @throws IllegalArgumentException if the inputs have the same name, their keys differ in
     *     number or type, a position is not that of a key column, or the output has a column that
     *     does not exist or that the join kind does not return
     */
    public BulkJoinSpec {
        if (left.name().equals(right.name())) {
            throw new IllegalArgumentException(
                    "Both inputs have the same name: name=" + left.name() + ". Rename one.");
        }
        requireEqualKeys(left, right);
        keysWithEqualNulls = Set.copyOf(keysWithEqualNulls);
        int keys = left.keyColumns().size();
        if (!keysWithEqualNulls.stream().allMatch(key -> key >= 0 && key < keys)) {
            throw new IllegalArgumentException(
                    "No such key column to have equal nulls: positions=%s, keyColumns=%d"
                            .formatted(new TreeSet<>(keysWithEqualNulls), keys));
        }
        if (output instanceof BulkOutput.Rows rows) {
            requireReturned(left, JoinSide.LEFT, kind, rows.leftColumns());
            requireReturned(right, JoinSide.RIGHT, kind, rows.rightColumns());
        } else if (output instanceof BulkOutput.Groups groups) {
            groups.aggregation()
                    .columns()
                    .forEach(column -> requireInteger(left, right, kind, column));
        }
    }

    /** The same with nulls that are equal in all key columns, or in none. */
    public BulkJoinSpec(
            BulkInput left,
            BulkInput right,
            BulkJoinKind kind,
            boolean nullsAreEqual,
            BulkOutput output) {
        this(left, right, kind, nullsAreEqual ? allKeys(left) : Set.of(), output);
    }

    private static Set<Integer> allKeys(BulkInput input) {
        return IntStream.range(0, input.keyColumns().size()).boxed().collect(Collectors.toSet());
    }

    /** Whether nulls in a key column are equal, by its position among the key columns. */
    public boolean nullsAreEqual(int key) {
        return keysWithEqualNulls.contains(key);
    }

    public BulkInput input(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    /**
     * Returns the columns of an input that the results are made of, each once: of rows in the order
     * of the output, of groups in the order of their first use.
     */
    public List<Integer> outputColumns(JoinSide side) {
        if (output instanceof BulkOutput.Rows rows) {
            return side == JoinSide.LEFT ? rows.leftColumns() : rows.rightColumns();
        }
        if (output instanceof BulkOutput.Groups groups) {
            return groups.aggregation()
                    .columns()
                    .filter(column -> column.side() == side.ordinal())
                    .map(JoinColumn::column)
                    .distinct()
                    .toList();
        }
        return List.of();
    }

    /**
     * Returns the schema of result chunks: the output columns of the left input, then those of the
     * right one, named {@code input.column}. Their types and nullability are those of the input:
     * rows without a match are in chunks of their own, which lack the columns of the other input.
     */
    public ChunkSchema resultSchema(ResultSides sides) {
        List<Column> columns = new ArrayList<>();
        for (JoinSide side : JoinSide.values()) {
            if (sides.contains(side)) {
                for (int index : outputColumns(side)) {
                    Column column = input(side).schema().column(index);
                    String name = input(side).name() + "." + column.name();
                    columns.add(new Column(name, column.type(), column.nullable()));
                }
            }
        }
        return ChunkSchema.of(columns);
    }

    private static void requireEqualKeys(BulkInput left, BulkInput right) {
        if (left.keyColumns().size() != right.keyColumns().size()) {
            throw new IllegalArgumentException(
                    "Keys have different numbers of columns: %s=%d, %s=%d"
                            .formatted(
                                    left.name(),
                                    left.keyColumns().size(),
                                    right.name(),
                                    right.keyColumns().size()));
        }
        for (int i = 0; i < left.keyColumns().size(); i++) {
            Column a = left.schema().column(left.keyColumns().get(i));
            Column b = right.schema().column(right.keyColumns().get(i));
            boolean areIntegers = a.type().isInteger() && b.type().isInteger();
            if (!areIntegers && a.type() != b.type()) {
                throw new IllegalArgumentException(
                        "Key types differ: %s.%s is %s, %s.%s is %s. Cast one side."
                                .formatted(
                                        left.name(),
                                        a.name(),
                                        a.type(),
                                        right.name(),
                                        b.name(),
                                        b.type()));
            }
        }
    }

    private static void requireReturned(
            BulkInput input, JoinSide side, BulkJoinKind kind, List<Integer> columns) {
        if (!columns.isEmpty() && !kind.returns(side)) {
            throw new IllegalArgumentException(
                    "Join kind returns no columns of an input: kind=%s, input=%s, columns=%s"
                            .formatted(kind, input.name(), columns));
        }
        for (int column : columns) {
            ColumnChecks.require("Output column", input.name(), input.schema(), column);
        }
    }

    private static void requireInteger(
            BulkInput left, BulkInput right, BulkJoinKind kind, JoinColumn column) {
        if (column.side() < 0 || column.side() >= JoinSide.values().length) {
            throw new IllegalArgumentException(
                    "Column of groups names no input: column=" + column + ", inputs=2");
        }
        JoinSide side = JoinSide.values()[column.side()];
        BulkInput input = side == JoinSide.LEFT ? left : right;
        ColumnChecks.require("Column of groups", input.name(), input.schema(), column.column());
        Column found = input.schema().column(column.column());
        if (!found.type().isInteger() || !found.isFixed()) {
            throw new IllegalArgumentException(
                    "Column of groups is nullable or no integer: input=%s, column=%s, type=%s"
                            .formatted(input.name(), found.name(), found.type()));
        }
        if (!kind.returns(side) || kind.keepsUnmatched(side.other())) {
            throw new IllegalArgumentException(
                    "Column of groups is missing in some results: input=%s, column=%s, kind=%s"
                            .formatted(input.name(), found.name(), kind));
        }
    }
}
