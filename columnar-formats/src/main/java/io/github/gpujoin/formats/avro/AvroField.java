// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.avro;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.Column;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;

/**
 * Decodes one field of each record, in the order of the writer's schema. The value of a
 * variable-width column is held until {@link #append}, because chunks have these in the order of
 * their own schema. Not thread-safe.
 */
final class AvroField {

    private final int index;
    private final Column column;
    private final AvroColumn source;

    /** Whether the value is an integer in the chunk, or the bits of a float. */
    private final boolean isNumber;

    private final byte[][] symbols;
    private long number;
    private byte[] bytes = new byte[64];
    private int length;
    private boolean isNull;

    /**
     * @param index of the column in the chunk
     */
    AvroField(int index, Column column, AvroColumn source) {
        this.index = index;
        this.column = column;
        this.source = source;
        this.isNumber = source.type().isFixedWidth();
        this.symbols =
                source.value().getType() == Schema.Type.ENUM
                        ? source.value().getEnumSymbols().stream()
                                .map(symbol -> symbol.getBytes(StandardCharsets.UTF_8))
                                .toArray(byte[][]::new)
                        : new byte[0][];
    }

    /**
     * Decodes the value of a record, and puts it into the row if it has fixed width.
     *
     * @param limitBytes more than any value in the block can have
     */
    void read(BinaryDecoder in, ChunkBuilder row, int limitBytes) throws IOException {
        isNull = source.isUnion() && isNull(in.readIndex());
        if (isNull) {
            if (!column.nullable()) {
                throw new AvroRuntimeException("Null in a column that is read as not nullable");
            }
            return;
        }
        if (isNumber) {
            number = readNumber(in, limitBytes);
            if (column.isFixed()) {
                row.putInteger(index, number);
            }
        } else {
            readBytes(in, limitBytes);
        }
    }

    private boolean isNull(int branch) {
        if (branch < 0 || branch > 1 || branch == 1 && source.nullBranch() < 0) {
            throw new AvroRuntimeException("Union has no such branch: branch=" + branch);
        }
        return branch == source.nullBranch();
    }

    private long readNumber(BinaryDecoder in, int limitBytes) throws IOException {
        return switch (source.value().getType()) {
            case BOOLEAN -> in.readBoolean() ? 1 : 0;
            case INT -> in.readInt();
            case LONG -> in.readLong();
            case FLOAT -> Float.floatToRawIntBits(in.readFloat());
            case DOUBLE -> Double.doubleToRawLongBits(in.readDouble());
            default -> {
                readBytes(in, limitBytes);
                yield decimal();
            }
        };
    }

    /** Returns the digits of a decimal: big-endian, in two's complement. */
    private long decimal() {
        long value = length > 0 && bytes[0] < 0 ? -1 : 0;
        for (int i = 0; i < length; i++) {
            if (value != (value << Byte.SIZE >> Byte.SIZE)) {
                throw new AvroRuntimeException("Decimal does not fit 64 bits");
            }
            value = value << Byte.SIZE | bytes[i] & 0xFF;
        }
        return value;
    }

    private void readBytes(BinaryDecoder in, int limitBytes) throws IOException {
        switch (source.value().getType()) {
            case ENUM -> {
                int symbol = in.readEnum();
                if (symbol < 0 || symbol >= symbols.length) {
                    throw new AvroRuntimeException("Enum has no such symbol: symbol=" + symbol);
                }
                bytes = symbols[symbol];
                length = bytes.length;
            }
            case FIXED -> readFixed(in, source.value().getFixedSize(), limitBytes);
            default -> readFixed(in, in.readLong(), limitBytes);
        }
    }

    private void readFixed(BinaryDecoder in, long count, int limitBytes) throws IOException {
        if (count < 0 || count > limitBytes) {
            throw new AvroRuntimeException("Value ends behind its block: lengthBytes=" + count);
        }
        if (bytes.length < count) {
            bytes = new byte[Math.max((int) count, 2 * bytes.length)];
        }
        length = (int) count;
        in.readFixed(bytes, 0, length);
    }

    /** Adds the value of the record to the row, if it has variable width. */
    void append(ChunkBuilder row) {
        if (isNull) {
            row.addNull();
        } else if (isNumber) {
            row.addInteger(column.type().widthBytes(), number);
        } else {
            row.addBytes(bytes, 0, length);
        }
    }
}
