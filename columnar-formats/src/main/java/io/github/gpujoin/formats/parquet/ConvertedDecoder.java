// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.formats.parquet.ParquetColumn.Conversion;

/** Makes integers of the values of another decoder. */
final class ConvertedDecoder extends ValueDecoder {

    private final ValueDecoder stored;
    private final Conversion conversion;
    private Binaries batch = new Binaries(0);

    /** Returns a decoder of converted values. */
    static ValueDecoder of(ValueDecoder stored, Conversion conversion) {
        return conversion == Conversion.NONE ? stored : new ConvertedDecoder(stored, conversion);
    }

    private ConvertedDecoder(ValueDecoder stored, Conversion conversion) {
        this.stored = stored;
        this.conversion = conversion;
    }

    @Override
    void readLongs(long[] into, int from, int count) {
        if (conversion == Conversion.UNSIGNED) {
            stored.readLongs(into, from, count);
            for (int i = from; i < from + count; i++) {
                into[i] &= 0xFFFF_FFFFL;
            }
            return;
        }
        if (batch.capacity() < count) {
            batch = new Binaries(count);
        }
        stored.readBinaries(batch, 0, count);
        for (int i = 0; i < count; i++) {
            byte[] bytes = batch.array(i);
            int start = batch.start(i);
            int length = batch.length(i);
            into[from + i] =
                    conversion == Conversion.DECIMAL
                            ? Integers.ofDecimal(bytes, start, length)
                            : Integers.ofTimestamp(bytes, start, length);
        }
    }

    @Override
    void skip(int count) {
        stored.skip(count);
    }
}
