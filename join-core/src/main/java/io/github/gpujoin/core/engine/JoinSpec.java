package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.Serializable;
import java.util.List;

/**
 * What an engine joins: facts that pass all filters, against one or more dimensions, each fact row
 * against all of them. The result of a fact row is the cross product of what each dimension's
 * {@linkplain JoinKind kind} makes of it, in whatever order the dimensions stand; with an
 * aggregation, results are added up in place of being given.
 *
 * @param filters none to join all facts
 * @param aggregation null to give rows. A dimension's key among its columns becomes the facts' key,
 *     which equals it.
 * @param nullKeysColumn fixed INT32 column of the facts, whose bit d is set where the key of
 *     dimension d is null, whatever the key's own column holds; {@value #NO_NULL_KEYS} where no key
 *     is null
 */
public record JoinSpec(
        ChunkSchema factSchema,
        List<DimensionSpec> dimensions,
        List<FactFilter> filters,
        Aggregation aggregation,
        int nullKeysColumn)
        implements Serializable {

    /** For {@link #nullKeysColumn}. */
    public static final int NO_NULL_KEYS = -1;

    public JoinSpec {
        List<DimensionSpec> sides = List.copyOf(dimensions);
        dimensions = sides;
        filters = List.copyOf(filters);
        if (dimensions.isEmpty()) {
            throw new IllegalArgumentException("a join has at least one dimension: dimensions=[]");
        }
        for (DimensionSpec dimension : dimensions) {
            requireKey("facts of " + dimension.name(), factSchema, dimension.factKeyColumn());
        }
        for (FactFilter filter : filters) {
            requireInteger("a filter reads", "facts", factSchema, filter.column());
        }
        if (aggregation != null) {
            aggregation = aggregation.map(column -> source(factSchema, sides, column));
        }
        if (nullKeysColumn != NO_NULL_KEYS) {
            requireNullKeys(factSchema, nullKeysColumn, sides.size());
        }
    }

    /** Without null keys. */
    public JoinSpec(
            ChunkSchema factSchema,
            List<DimensionSpec> dimensions,
            List<FactFilter> filters,
            Aggregation aggregation) {
        this(factSchema, dimensions, filters, aggregation, NO_NULL_KEYS);
    }

    /** All facts, none with a null key, and rows for results. */
    public JoinSpec(ChunkSchema factSchema, List<DimensionSpec> dimensions) {
        this(factSchema, dimensions, List.of(), null);
    }

    /** Whether facts may have null keys. */
    public boolean hasNullKeys() {
        return nullKeysColumn != NO_NULL_KEYS;
    }

    /** Whether a dimension changes while facts are joined. */
    public boolean changes() {
        return dimensions.stream().anyMatch(DimensionSpec::changes);
    }

    /** Whether results are added up. */
    public boolean aggregates() {
        return aggregation != null;
    }

    private static JoinColumn source(
            ChunkSchema factSchema, List<DimensionSpec> dimensions, JoinColumn column) {
        String user = "groups are made of";
        if (column.isFact()) {
            requireInteger(user, "facts", factSchema, column.column());
            return column;
        }
        if (column.side() < 0 || column.side() >= dimensions.size()) {
            throw new IllegalArgumentException(
                    user + " columns of the join's sides: column=" + column);
        }
        DimensionSpec side = dimensions.get(column.side());
        if (side.kind().keepsUnmatched()) {
            throw new IllegalArgumentException(
                    user
                            + " columns of facts, and of dimensions that each result has a match in:"
                            + " side="
                            + side.name()
                            + ", kind="
                            + side.kind());
        }
        if (column.column() == side.keyColumn()) {
            return JoinColumn.ofFact(side.factKeyColumn());
        }
        requireInteger(user, side.name(), side.schema(), column.column());
        if (!side.kind().keepsPayload()) {
            throw new IllegalArgumentException(
                    "a semi join gives no columns of its dimension: side="
                            + side.name()
                            + ", column="
                            + side.schema().column(column.column()));
        }
        return column;
    }

    private static void requireInteger(String user, String side, ChunkSchema schema, int column) {
        boolean exists = column >= 0 && column < schema.size();
        if (!exists || !schema.column(column).isFixed() || !isInteger(schema, column)) {
            throw new IllegalArgumentException(
                    user
                            + " INT32 or INT64 columns that are not nullable: side="
                            + side
                            + ", column="
                            + (exists ? schema.column(column) : column));
        }
    }

    private static void requireNullKeys(ChunkSchema facts, int column, int dimensions) {
        requireInt32("null keys are told by", "facts", facts, column);
        if (dimensions > Integer.SIZE) {
            throw new IllegalArgumentException(
                    "null keys are told by a bit for each dimension, at most 32: dimensions="
                            + dimensions);
        }
    }

    static void requireInt32(String user, String side, ChunkSchema schema, int column) {
        requireInteger(user, side, schema, column);
        if (schema.column(column).type() != ColumnType.INT32) {
            throw new IllegalArgumentException(
                    user + " an INT32 column: side=" + side + ", column=" + schema.column(column));
        }
    }

    private static boolean isInteger(ChunkSchema schema, int column) {
        return schema.column(column).type().isInteger();
    }

    static void requireKey(String name, ChunkSchema schema, int column) {
        if (column < 0 || column >= schema.size()) {
            throw new IllegalArgumentException(
                    "the key is a column of its side: side=" + name + ", column=" + column);
        }
        Column key = schema.column(column);
        if (!key.isFixed() || !key.type().isInteger()) {
            throw new IllegalArgumentException(
                    "a join key is INT32 or INT64 and not nullable: side="
                            + name
                            + ", column="
                            + key);
        }
    }
}
