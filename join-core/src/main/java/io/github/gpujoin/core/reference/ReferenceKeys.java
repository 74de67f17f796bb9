// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.reference.ReferenceJoinEngine.JoinedRow;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the keys of a bulk join as boxed values. */
final class ReferenceKeys {

    private final BulkJoinSpec spec;
    private final Map<JoinSide, ChunkCursor> cursors = new EnumMap<>(JoinSide.class);

    ReferenceKeys(BulkJoinSpec spec) {
        this.spec = spec;
        for (JoinSide side : JoinSide.values()) {
            cursors.put(side, new ChunkCursor(spec.input(side).schema()));
        }
    }

    /** Returns the key of a row, or null if the row has no match whatever the other input has. */
    @Nullable List<Object> of(JoinSide side, JoinedRow row) {
        BulkInput input = spec.input(side);
        RowView view = cursors.get(side).at(row.chunk(), row.row());
        List<Object> key = new ArrayList<>();
        for (int i = 0; i < input.keyColumns().size(); i++) {
            int column = input.keyColumns().get(i);
            if (!view.isNull(column)) {
                key.add(value(view, input.schema().column(column).type(), column));
            } else if (spec.nullsAreEqual(i)) {
                key.add(null);
            } else {
                return null;
            }
        }
        return key;
    }

    private static Object value(RowView view, ColumnType type, int column) {
        return switch (type) {
            case STRING -> view.getString(column);
            case BYTES -> ByteBuffer.wrap(view.getBytes(column));
            default -> view.getLong(column);
        };
    }
}
