// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnChecks;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine joins: the facts that pass all filters, with one or more dimensions. The results
 * of a fact are the cross product of its results for each dimension, by the {@linkplain JoinKind
 * kind} of the dimension. The order of the dimensions does not matter. An aggregating join returns
 * aggregates of the results instead.
 *
 * @param filters empty to join all facts
 * @param aggregation null to return rows. Where it names the key of a dimension, this record names
 *     the equal key of the facts instead.
 * @param nullKeysColumn index of a fixed-width INT32 column of the facts, or {@value #NO_NULL_KEYS}
 *     if no key is null. Bit d is set if the key of dimension d is null, whatever the key column
 *     contains; such a join has at most 32 dimensions.
 */
public record JoinSpec(
        ChunkSchema factSchema,
        List<DimensionSpec> dimensions,
        List<FactFilter> filters,
        @Nullable Aggregation aggregation,
        int nullKeysColumn)
        implements Serializable {

    /** The {@link #nullKeysColumn} of a join whose keys are never null. */
    public static final int NO_NULL_KEYS = -1;

    private static final String GROUP_DOWNSTREAM =
            ".\nSelect the column instead, and group the rows behind the join.";

    private static final String FILTER_BY_FUNCTION = ". Use a FilterFunction instead.";

    /**
     * Copies the lists and checks all columns.
     *
     * @throws IllegalArgumentException if there is no dimension, a column is missing, nullable or
     *     of another type, or the aggregation reads a column of a dimension whose results lack it
     *     or may have null in it
     */
    public JoinSpec {
        List<DimensionSpec> copied = List.copyOf(dimensions);
        dimensions = copied;
        filters = List.copyOf(filters);
        if (dimensions.isEmpty()) {
            throw new IllegalArgumentException("Join has no dimensions.");
        }
        for (DimensionSpec dimension : dimensions) {
            ColumnChecks.requireInteger(
                    "Join key",
                    "facts of " + dimension.name(),
                    factSchema,
                    dimension.factKeyColumn());
        }
        for (FactFilter filter : filters) {
            ColumnChecks.requireInteger(
                    "Filter column", "facts", factSchema, filter.column(), FILTER_BY_FUNCTION);
        }
        if (aggregation != null) {
            aggregation =
                    aggregation.map(
                            group -> source(factSchema, copied, group, true),
                            factor -> source(factSchema, copied, factor, false));
        }
        if (nullKeysColumn != NO_NULL_KEYS) {
            requireNullKeys(factSchema, nullKeysColumn, copied.size());
        }
    }

    /** Describes a join whose keys are never null. */
    public JoinSpec(
            ChunkSchema factSchema,
            List<DimensionSpec> dimensions,
            List<FactFilter> filters,
            @Nullable Aggregation aggregation) {
        this(factSchema, dimensions, filters, aggregation, NO_NULL_KEYS);
    }

    /** Describes a join of all facts whose keys are never null and that returns rows. */
    public JoinSpec(ChunkSchema factSchema, List<DimensionSpec> dimensions) {
        this(factSchema, dimensions, List.of(), null);
    }

    /** Whether facts may have null keys. */
    public boolean hasNullKeys() {
        return nullKeysColumn != NO_NULL_KEYS;
    }

    /** Whether a dimension is a changelog. */
    public boolean hasChangelog() {
        return dimensions.stream().anyMatch(DimensionSpec::isChangelog);
    }

    /** Whether the join returns groups instead of rows. */
    public boolean isAggregating() {
        return aggregation != null;
    }

    /** Whether a group column is text, which {@link GroupCodes} replace for an engine. */
    public boolean hasTextGroups() {
        return aggregation != null
                && aggregation.groupColumns().stream()
                        .anyMatch(column -> column.type(this) == ColumnType.STRING);
    }

    private static JoinColumn source(
            ChunkSchema factSchema,
            List<DimensionSpec> dimensions,
            JoinColumn column,
            boolean mayBeText) {
        String role = "Column of groups";
        if (column.isFact()) {
            ColumnChecks.requireInteger(
                    role, "facts", factSchema, column.column(), GROUP_DOWNSTREAM);
            return column;
        }
        if (column.side() < 0 || column.side() >= dimensions.size()) {
            throw new IllegalArgumentException(
                    role + " names an unknown dimension: column=" + column);
        }
        DimensionSpec dimension = dimensions.get(column.side());
        if (dimension.kind().keepsUnmatched()) {
            throw new IllegalArgumentException(
                    role
                            + " is null for facts without a match: input="
                            + dimension.name()
                            + ", kind="
                            + dimension.kind());
        }
        if (column.column() == dimension.keyColumn()) {
            return JoinColumn.ofFact(dimension.factKeyColumn());
        }
        if (!mayBeText || !isText(dimension.schema(), column.column())) {
            ColumnChecks.requireInteger(
                    role, dimension.name(), dimension.schema(), column.column(), GROUP_DOWNSTREAM);
        }
        if (!dimension.kind().keepsPayload()) {
            throw new IllegalArgumentException(
                    role
                            + " is of a semi join, whose results have no such column: input="
                            + dimension.name()
                            + ", column="
                            + dimension.schema().column(column.column()));
        }
        return column;
    }

    private static void requireNullKeys(ChunkSchema facts, int column, int dimensions) {
        ColumnChecks.requireInt32("Null-key column", "facts", facts, column);
        if (dimensions > Integer.SIZE) {
            throw new IllegalArgumentException(
                    "Join with null keys has more than 32 dimensions: dimensions=" + dimensions);
        }
    }

    private static boolean isText(ChunkSchema schema, int column) {
        return column >= 0
                && column < schema.size()
                && schema.column(column).type() == ColumnType.STRING;
    }
}
