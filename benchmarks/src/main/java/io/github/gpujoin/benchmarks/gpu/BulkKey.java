// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** Columns of the key of a bulk join. Payloads are at {@link TupleSchemas#PAYLOAD}. */
enum BulkKey {
    LONG(ColumnType.INT64, List.of(TupleSchemas.KEY), 0),
    /** 16 bytes, which a bulk join hashes. */
    TWO_LONGS(ColumnType.INT64, List.of(TupleSchemas.KEY, BulkKey.SECOND), 8),
    /** 20 bytes. */
    TEXT(ColumnType.STRING, List.of(TupleSchemas.KEY), 24);

    private static final int SECOND = 2;
    private static final long ODD = 0x9E3779B97F4A7C15L;
    private static final byte[] PREFIX = "key-".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final List<Integer> columns;
    private final ChunkSchema schema;
    private final int rowBytes;

    BulkKey(ColumnType type, List<Integer> columns, int moreBytes) {
        this.columns = columns;
        this.rowBytes = TupleSchemas.TUPLE_BYTES + moreBytes;
        Column key = Column.of("key", type);
        Column payload = Column.of("payload", ColumnType.INT64);
        this.schema =
                columns.contains(BulkKey.SECOND)
                        ? ChunkSchema.of(key, payload, Column.of("second_key", ColumnType.INT64))
                        : ChunkSchema.of(key, payload);
    }

    /** Returns the name in figures: two-longs. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    ChunkSchema schema() {
        return schema;
    }

    BulkInput input(String name) {
        return new BulkInput(name, schema, columns);
    }

    /** Returns the bytes of a row in a chunk, about. */
    int rowBytes() {
        return rowBytes;
    }

    /** Writes the key of a row. */
    void put(ChunkBuilder builder, long key) {
        if (this == TEXT) {
            byte[] text = new byte[PREFIX.length + Long.BYTES * 2];
            System.arraycopy(PREFIX, 0, text, 0, PREFIX.length);
            long rest = key * ODD;
            for (int i = PREFIX.length; i < text.length; i++) {
                text[i] = DIGITS[(int) (rest & DIGITS.length - 1)];
                rest >>>= 4;
            }
            builder.addBytes(text, 0, text.length);
            return;
        }
        builder.putLong(TupleSchemas.KEY, key);
        if (this == TWO_LONGS) {
            builder.putLong(SECOND, key * ODD);
        }
    }
}
