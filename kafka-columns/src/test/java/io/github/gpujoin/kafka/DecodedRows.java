// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.formats.record.RowWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Values decoded by a format, as rows of boxed values; bytes as a {@link ByteBuffer}. */
public final class DecodedRows {

    private DecodedRows() {}

    public static List<List<Object>> of(
            RecordFormat format, ChunkSchema schema, List<byte[]> values) throws IOException {
        ChunkBuilder builder = new ChunkBuilder(schema, 1 << 18);
        RowWriter row = new RowWriter(builder);
        RecordDecoder decoder = format.open(schema);
        for (byte[] value : values) {
            row.begin();
            decoder.decode(value, row);
            row.end();
        }
        return of(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
    }

    public static List<List<Object>> of(Chunk chunk) {
        ChunkCursor cursor = new ChunkCursor(chunk.schema());
        List<List<Object>> rows = new ArrayList<>();
        for (int row = 0; row < chunk.rowCount(); row++) {
            cursor.at(chunk, row);
            List<Object> values = new ArrayList<>();
            for (Column column : chunk.schema().columns()) {
                values.add(value(cursor, column));
            }
            rows.add(values);
        }
        return rows;
    }

    private static Object value(ChunkCursor row, Column column) {
        String name = column.name();
        if (row.isNull(name)) {
            return null;
        }
        return switch (column.type()) {
            case INT8, INT16, INT32, INT64 -> row.getLong(name);
            case FLOAT32, FLOAT64 -> row.getDouble(name);
            case STRING -> row.getString(name);
            case BYTES -> ByteBuffer.wrap(row.getBytes(name));
        };
    }
}
