// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the variable-width columns of many records. A chunk holds them row by row. Texts and keys,
 * the most frequent ones, are written without a call of a getter. Not thread-safe.
 */
public final class BatchValues<T> {

    private enum Source {
        KEY,
        TEXT,
        OBJECT
    }

    private final Source[] sources;
    private final ColumnSlot<T>[] slots;

    /** Of texts the offset of the field, of keys the number of the key. */
    private final long[] places;

    private final BatchKeys<T> keys;
    private final ValueWriter writer = new ValueWriter();

    /**
     * @param keys of the same layout
     */
    @SuppressWarnings("unchecked")
    BatchValues(RecordLayout<T> layout, BatchKeys<T> keys) {
        this.keys = keys;
        boolean ofFields = layout.schema().indexOf(RecordLayout.RECORD) < 0;
        RecordShape<T> shape = ofFields ? RecordShape.of(layout.type()) : null;
        List<ColumnSlot<T>> all = new ArrayList<>();
        List<Source> from = new ArrayList<>();
        List<Long> at = new ArrayList<>();
        for (int column = 0; column < layout.schema().size(); column++) {
            RecordField field = layout.fields().get(column);
            if (layout.schema().column(column).isFixed()) {
                continue;
            }
            int key = keys.indexOfBytes(field.name());
            boolean isText = key < 0 && field.kind() == FieldKind.STRING;
            long offset = isText ? shape.offsetOf(field.name()) : -1;
            from.add(key >= 0 ? Source.KEY : offset >= 0 ? Source.TEXT : Source.OBJECT);
            at.add(key >= 0 ? key : offset);
            all.add(key >= 0 ? null : ColumnSlot.of(shape, column, field));
        }
        this.sources = from.toArray(Source[]::new);
        this.slots = all.toArray(ColumnSlot[]::new);
        this.places = at.stream().mapToLong(Long::longValue).toArray();
    }

    /**
     * Writes rows until a builder is full; fixed-width columns are written elsewhere.
     *
     * @param rows numbers of records
     * @return the end of the rows that were written
     */
    public int append(T[] records, int[] rows, int from, int end, ChunkBuilder builder)
            throws IOException {
        int next = from;
        while (next < end && !builder.isFull()) {
            int row = rows[next];
            try {
                append(records[row], row, builder);
            } catch (IOException | RuntimeException e) {
                builder.discardRow();
                throw e;
            }
            builder.endRow();
            next++;
        }
        return next;
    }

    private void append(T record, int row, ChunkBuilder builder) throws IOException {
        for (int i = 0; i < sources.length; i++) {
            switch (sources[i]) {
                case KEY -> {
                    int key = (int) places[i];
                    builder.addBytes(keys.bytes(), keys.start(key, row), keys.length(key, row));
                }
                case TEXT -> {
                    String text = (String) Memory.getObject(record, places[i]);
                    if (text == null) {
                        builder.addNull();
                    } else {
                        builder.addString(text);
                    }
                }
                case OBJECT -> writer.write(slots[i].getter().get(record), slots[i], builder);
            }
        }
    }
}
