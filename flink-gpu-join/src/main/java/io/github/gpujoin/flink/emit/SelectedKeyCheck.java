// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import io.github.gpujoin.flink.state.KeyCheck;
import java.util.List;

/**
 * Selects the keys of whole records in state once more: a changed key selector would leave rows
 * under keys that no fact has any more.
 *
 * @param layout of the build side's records
 */
public record SelectedKeyCheck<T>(RecordLayout<T> layout, SelectedKey<T, ?> key)
        implements KeyCheck {

    @Override
    public void check(Chunk chunk) throws Exception {
        int keyColumn = layout.schema().require(RecordLayout.KEY);
        int numberColumn = layout.schema().indexOf(RecordLayout.NUMBER);
        RecordAssembler<T> records = records(chunk, keyColumn);
        SelectedKey.Reader<T, ?> reader = key.reader();
        for (int row = 0; row < chunk.rowCount(); row++) {
            if (numberColumn >= 0 && chunk.getLong(numberColumn, row) < 0) {
                continue; // A row with a null key, which some joins keep.
            }
            long stored = chunk.getLong(keyColumn, row);
            Number selected = reader.integer(records.assemble(row, row));
            if (selected == null || selected.longValue() != stored) {
                throw new IllegalStateException(
                        String.format(
                                "The key selector of the build side changed: a row in state has key"
                                        + " %d, and %s is selected now.\nKeep the selector, or start"
                                        + " without the snapshot.",
                                stored, selected));
            }
        }
    }

    /** Reads the rows of a chunk as if they were facts, which need no engine. */
    private RecordAssembler<T> records(Chunk chunk, int keyColumn) {
        DimensionSpec none =
                new DimensionSpec("none", layout.schema(), keyColumn, keyColumn, JoinKind.SEMI);
        JoinSpec spec = new JoinSpec(layout.schema(), List.of(none));
        RecordAssembler<T> records = RecordAssembler.whole(spec, ChunkDescriptor.FACTS, layout);
        ResultBatch batch = new ResultBatch(new ResultLayout(spec, 1), 0);
        batch.set(chunk, chunk.rowCount(), chunk.rowCount());
        records.bind(batch);
        return records;
    }
}
