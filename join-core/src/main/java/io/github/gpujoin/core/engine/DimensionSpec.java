package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * One build side of a star join.
 *
 * @param name for messages
 * @param schema of the build chunks
 * @param keyColumn in {@code schema}; INT32 or INT64, fixed
 * @param factKeyColumn in the facts' schema; INT32 or INT64, fixed; the widths may differ
 * @param changeColumn in {@code schema}: fixed INT32 column of {@link RowChange} codes, where the
 *     dimension changes while facts are joined and has one row a key; {@value #NO_CHANGES} where it
 *     does not, and keys may repeat
 */
public record DimensionSpec(
        String name,
        ChunkSchema schema,
        int keyColumn,
        int factKeyColumn,
        JoinKind kind,
        int changeColumn)
        implements Serializable {

    /** For {@link #changeColumn}. */
    public static final int NO_CHANGES = -1;

    public DimensionSpec {
        JoinSpec.requireKey(name, schema, keyColumn);
        if (changeColumn != NO_CHANGES) {
            JoinSpec.requireInt32("changes are told by", name, schema, changeColumn);
        }
    }

    /** A dimension that is complete before facts are joined. */
    public DimensionSpec(
            String name, ChunkSchema schema, int keyColumn, int factKeyColumn, JoinKind kind) {
        this(name, schema, keyColumn, factKeyColumn, kind, NO_CHANGES);
    }

    /** Whether rows are inserted, updated and deleted while facts are joined. */
    public boolean changes() {
        return changeColumn != NO_CHANGES;
    }

    /**
     * Fixed columns that stand in results, in schema order: all but the key and the change; none
     * for a semi or an anti join.
     */
    public List<Integer> payloadColumns() {
        List<Integer> columns = new ArrayList<>();
        for (int i = 0; kind.keepsPayload() && i < schema.size(); i++) {
            Column column = schema.column(i);
            if (i != keyColumn && i != changeColumn && column.isFixed()) {
                columns.add(i);
            }
        }
        return columns;
    }

    /** Whether results refer to carried bytes of build rows. */
    public boolean hasCarriedPayload() {
        return kind.keepsPayload() && schema.hasCarried();
    }
}
