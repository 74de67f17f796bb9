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
 */
public record DimensionSpec(
        String name, ChunkSchema schema, int keyColumn, int factKeyColumn, JoinKind kind)
        implements Serializable {

    public DimensionSpec {
        JoinSpec.requireKey(name, schema, keyColumn);
    }

    /**
     * Fixed columns that stand in results, in schema order: all but the key; none for a semi or an
     * anti join.
     */
    public List<Integer> payloadColumns() {
        List<Integer> columns = new ArrayList<>();
        for (int i = 0; kind.keepsPayload() && i < schema.size(); i++) {
            Column column = schema.column(i);
            if (i != keyColumn && column.isFixed()) {
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
