// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.region.Memory;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.parquet.schema.PrimitiveType;
import org.jspecify.annotations.Nullable;

/** Decoders of Parquet's encoding PLAIN, which holds whole values. */
final class PlainDecoders {

    private PlainDecoders() {}

    static ValueDecoder of(PrimitiveType type, PageBytes page) {
        return switch (type.getPrimitiveTypeName()) {
            case INT32, FLOAT -> new Fixed(page, Integer.BYTES);
            case INT64, DOUBLE -> new Fixed(page, Long.BYTES);
            case BOOLEAN -> new Booleans(page);
            case BINARY -> new Sequences(page, null);
            case FIXED_LEN_BYTE_ARRAY -> new Sequences(page, type.getTypeLength());
            case INT96 -> new Sequences(page, 12);
        };
    }

    /** Values of 4 or 8 bytes. */
    private static final class Fixed extends ValueDecoder {

        private final PageBytes page;
        private final int widthBytes;
        private int at;

        Fixed(PageBytes page, int widthBytes) {
            this.page = page;
            this.widthBytes = widthBytes;
            this.at = page.start();
        }

        private int take(int count) {
            int from = at;
            page.require(from, (long) count * widthBytes);
            at += count * widthBytes;
            return from;
        }

        @Override
        void readLongs(long[] into, int from, int count) {
            long start = Memory.BYTES + take(count);
            for (int i = 0; i < count; i++) {
                into[from + i] =
                        widthBytes == Long.BYTES
                                ? Memory.getLong(page.bytes(), start + 8L * i)
                                : Memory.getInt(page.bytes(), start + 4L * i);
            }
        }

        @Override
        void selectLongs(long[] into, int[] rows, int from, int end, int first, int count) {
            long start = Memory.BYTES + take(count);
            byte[] bytes = page.bytes();
            if (widthBytes == Long.BYTES) {
                for (int i = from; i < end; i++) {
                    into[rows[i]] = Memory.getLong(bytes, start + 8L * (rows[i] - first));
                }
                return;
            }
            for (int i = from; i < end; i++) {
                into[rows[i]] = Memory.getInt(bytes, start + 4L * (rows[i] - first));
            }
        }

        @Override
        void skip(int count) {
            take(count);
        }

        @Override
        boolean readColumn(byte[] target, int to, int columnBytes, int count) {
            if (columnBytes != widthBytes) {
                return false;
            }
            System.arraycopy(page.bytes(), take(count), target, to, count * widthBytes);
            return true;
        }
    }

    /** A bit a value. */
    private static final class Booleans extends ValueDecoder {

        private final PageBytes page;
        private long bit;

        Booleans(PageBytes page) {
            this.page = page;
            this.bit = 8L * page.start();
        }

        @Override
        void readLongs(long[] into, int from, int count) {
            page.require((int) (bit >>> 3), (bit & 7) + count + 7 >>> 3);
            for (int i = 0; i < count; i++, bit++) {
                into[from + i] = page.bytes()[(int) (bit >>> 3)] >>> (bit & 7) & 1;
            }
        }

        @Override
        void skip(int count) {
            page.require((int) (bit >>> 3), (bit & 7) + count + 7 >>> 3);
            bit += count;
        }
    }

    /** Byte sequences behind their lengths, or all of one length. */
    private static final class Sequences extends ValueDecoder {

        private final PageBytes page;
        private final @Nullable Integer length;
        private int at;

        Sequences(PageBytes page, @Nullable Integer length) {
            this.page = page;
            this.length = length;
            this.at = page.start();
        }

        /** Returns the length of the next value, whose first byte is then the next one. */
        private int startValue() {
            int bytes;
            if (length == null) {
                page.require(at, Integer.BYTES);
                bytes = Memory.getInt(page.bytes(), Memory.BYTES + at);
                at += Integer.BYTES;
            } else {
                bytes = length;
            }
            if (bytes < 0) {
                throw new ParquetDecodingException("Length of a value is wrong: bytes=" + bytes);
            }
            page.require(at, bytes);
            return bytes;
        }

        @Override
        void readBinaries(Binaries into, int from, int count) {
            for (int i = 0; i < count; i++) {
                int bytes = startValue();
                into.set(from + i, page.bytes(), at, bytes);
                at += bytes;
            }
        }

        @Override
        void skip(int count) {
            for (int i = 0; i < count; i++) {
                int bytes = startValue();
                at += bytes;
            }
        }
    }
}
