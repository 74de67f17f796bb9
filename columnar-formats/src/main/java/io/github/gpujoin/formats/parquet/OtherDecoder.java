// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.parquet.bytes.ByteBufferInputStream;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.ValuesType;
import org.apache.parquet.column.values.ValuesReader;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** Decodes every other encoding with parquet-java, value by value. */
final class OtherDecoder extends ValueDecoder {

    private final ValuesReader values;
    private final PrimitiveTypeName type;

    /**
     * @param valueCount of the page, nulls included
     */
    OtherDecoder(ColumnDescriptor column, Encoding encoding, PageBytes page, int valueCount)
            throws IOException {
        this.type = column.getPrimitiveType().getPrimitiveTypeName();
        this.values = encoding.getValuesReader(column, ValuesType.VALUES);
        ByteBuffer bytes = ByteBuffer.wrap(page.bytes(), page.start(), page.end() - page.start());
        values.initFromPage(valueCount, ByteBufferInputStream.wrap(bytes.slice()));
    }

    @Override
    void readLongs(long[] into, int from, int count) {
        for (int i = 0; i < count; i++) {
            into[from + i] =
                    switch (type) {
                        case INT32 -> values.readInteger();
                        case INT64 -> values.readLong();
                        case FLOAT -> Float.floatToRawIntBits(values.readFloat());
                        case DOUBLE -> Double.doubleToRawLongBits(values.readDouble());
                        case BOOLEAN -> values.readBoolean() ? 1 : 0;
                        default -> throw new IllegalStateException("type=" + type);
                    };
        }
    }

    @Override
    void readBinaries(Binaries into, int from, int count) {
        for (int i = 0; i < count; i++) {
            byte[] bytes = values.readBytes().getBytes();
            into.set(from + i, bytes, 0, bytes.length);
        }
    }

    @Override
    void skip(int count) {
        values.skip(count);
    }
}
