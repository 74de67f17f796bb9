// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.RowView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Schemas and chunks of every shape, and helpers for tests of the byte layout. */
public final class ChunkSamples {

    /** Fixed-width columns only, variable-width columns only, and both, of all types. */
    public static final List<ChunkSchema> SCHEMAS =
            List.of(
                    ChunkSchema.of(Column.of("key", ColumnType.INT64)),
                    ChunkSchema.of(
                            Column.of("i", ColumnType.INT32),
                            Column.of("l", ColumnType.INT64),
                            Column.of("f", ColumnType.FLOAT32),
                            Column.of("d", ColumnType.FLOAT64)),
                    ChunkSchema.of(Column.of("text", ColumnType.STRING)),
                    ChunkSchema.of(
                            Column.nullable("i", ColumnType.INT32),
                            Column.nullable("l", ColumnType.INT64),
                            Column.nullable("f", ColumnType.FLOAT32),
                            Column.nullable("d", ColumnType.FLOAT64),
                            Column.nullable("s", ColumnType.STRING),
                            Column.nullable("b", ColumnType.BYTES)),
                    ChunkSchema.of(
                            Column.of("text", ColumnType.STRING),
                            Column.of("key", ColumnType.INT32),
                            Column.nullable("weight", ColumnType.FLOAT64),
                            Column.of("measure", ColumnType.INT64),
                            Column.of("raw", ColumnType.BYTES)),
                    ChunkSchema.of(
                            Column.of("b", ColumnType.INT8),
                            Column.of("s", ColumnType.INT16),
                            Column.of("l", ColumnType.INT64)),
                    ChunkSchema.of(
                            Column.nullable("nb", ColumnType.INT8),
                            Column.of("s", ColumnType.INT16),
                            Column.nullable("ns", ColumnType.INT16),
                            Column.of("b", ColumnType.INT8)));

    private ChunkSamples() {}

    /** Returns a chunk of random rows, which depend on the arguments only. */
    public static Chunk chunk(int schema, int rowCount) {
        return TestChunks.of(
                SCHEMAS.get(schema),
                schema,
                randomRows(SCHEMAS.get(schema), rowCount, new Random(31L * schema + rowCount)));
    }

    public static List<Object[]> randomRows(ChunkSchema schema, int rowCount, Random random) {
        return IntStream.range(0, rowCount)
                .mapToObj(
                        i ->
                                schema.columns().stream()
                                        .map(column -> randomValue(column, random))
                                        .toArray())
                .toList();
    }

    private static Object randomValue(Column column, Random random) {
        if (column.nullable() && random.nextInt(3) == 0) {
            return null;
        }
        return switch (column.type()) {
            case INT8 -> (byte) random.nextInt();
            case INT16 -> (short) random.nextInt();
            case INT32 -> random.nextInt();
            case INT64 -> random.nextLong();
            case FLOAT32 -> (float) random.nextGaussian();
            case FLOAT64 -> random.nextGaussian();
            case STRING -> "aß€𝄞\u0000".repeat(random.nextInt(4));
            case BYTES -> {
                byte[] bytes = new byte[random.nextInt(10)];
                random.nextBytes(bytes);
                yield bytes;
            }
        };
    }

    /** Reads a row through a cursor as boxed values. */
    public static Object[] values(RowView row) {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < row.schema().size(); i++) {
            values.add(row.isNull(i) ? null : value(row, i));
        }
        return values.toArray();
    }

    private static Object value(RowView row, int column) {
        return switch (row.schema().column(column).type()) {
            case INT8 -> (byte) row.getInt(column);
            case INT16 -> (short) row.getInt(column);
            case INT32 -> row.getInt(column);
            case INT64 -> row.getLong(column);
            case FLOAT32 -> (float) row.getDouble(column);
            case FLOAT64 -> row.getDouble(column);
            case STRING -> row.getString(column);
            case BYTES -> row.getBytes(column);
        };
    }

    /** Whether the bytes are a chunk. Fails if a read would leave its bounds. */
    public static boolean assertReadsInBoundsOrIsRefused(ChunkSchema schema, byte[] bytes) {
        Chunk chunk;
        try {
            chunk = Chunk.wrap(schema, bytes);
        } catch (ChunkFormatException expected) {
            return false;
        }
        assertThat(chunk.lengthBytes()).isEqualTo(bytes.length);
        for (int i = 0; i < schema.size(); i++) {
            if (schema.column(i).isFixed()) {
                long end = (long) schema.column(i).type().widthBytes() * chunk.rowCount();
                long offset = chunk.columnStart(i) - chunk.start();
                assertThat(offset).isGreaterThanOrEqualTo(64);
                assertThat(offset + end).isLessThanOrEqualTo(bytes.length);
            }
        }
        ChunkCursor cursor = new ChunkCursor(schema);
        for (int row = 0; row < chunk.rowCount(); row++) {
            if (schema.hasVariableWidth()) {
                long first = row == 0 ? chunk.start() + 64 : chunk.variableWidthEnd(row - 1);
                assertThat(chunk.variableWidthStart(row)).isGreaterThanOrEqualTo(first);
                assertThat(chunk.variableWidthEnd(row))
                        .isBetween(chunk.variableWidthStart(row), chunk.start() + bytes.length);
            }
            values(cursor.at(chunk, row));
        }
        return true;
    }

    public static void putInt(byte[] bytes, int offset, int value) {
        littleEndian(bytes).putInt(offset, value);
    }

    public static int getInt(byte[] bytes, int offset) {
        return littleEndian(bytes).getInt(offset);
    }

    /** Updates the checksum after a change. */
    public static void sealAgain(byte[] bytes) {
        littleEndian(bytes).putLong(ChunkDescriptor.CHECKSUM_OFFSET, checksum(bytes));
    }

    /** Computes the checksum word by word from its definition. */
    public static long checksum(byte[] chunk) {
        ByteBuffer buffer = littleEndian(chunk);
        long sum = 0;
        for (int number = 1; number <= chunk.length / 8; number++) {
            int offset = 8 * (number - 1);
            long word = offset == ChunkDescriptor.CHECKSUM_OFFSET ? 0 : buffer.getLong(offset);
            long mixed = (word ^ (number * 0x9E3779B97F4A7C15L)) * 0xD6E8FEB86659FD93L;
            sum += mixed ^ (mixed >>> 32);
        }
        return sum;
    }

    public static ByteBuffer littleEndian(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
