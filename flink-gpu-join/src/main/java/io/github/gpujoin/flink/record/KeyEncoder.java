// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.jspecify.annotations.Nullable;

/** Encodes keys as integers and as canonical bytes. Not thread-safe. */
public final class KeyEncoder<K> {

    /** Puts the parts of a key into {@link #values}, one after the other. */
    private interface Reader {
        void read(Object key);
    }

    private final KeyLayout<K> layout;
    private final KeyPart[] parts;
    private final Reader reader;
    private final boolean nullsMatch;
    private final Object[] values;
    private final KeyBytes bytes = new KeyBytes();
    private int count;

    KeyEncoder(KeyLayout<K> layout) {
        this.layout = layout;
        this.parts = layout.parts().toArray(KeyPart[]::new);
        this.values = new Object[parts.length];
        this.nullsMatch = layout.nulls() == KeyLayout.Nulls.MATCH_NULLS;
        this.reader = reader(layout.type());
    }

    private Reader reader(TypeInformation<?> type) {
        return RecordShape.isRecord(type)
                ? recordReader(RecordShape.of(type))
                : value -> values[count++] = value;
    }

    private <R> Reader recordReader(RecordShape<R> shape) {
        List<RecordShape.Getter<R>> getters = new ArrayList<>();
        List<Reader> readers = new ArrayList<>();
        for (String name : shape.names()) {
            getters.add(shape.getter(name));
            readers.add(reader(shape.typeOf(name)));
        }
        return record -> {
            for (int i = 0; i < readers.size(); i++) {
                @SuppressWarnings("unchecked")
                Object value = record == null ? null : getters.get(i).get((R) record);
                readers.get(i).read(value);
            }
        };
    }

    /**
     * Returns the integer of the key.
     *
     * @param key null if the record has none; the parts of a composite key are null then
     * @return null where the key matches nothing
     */
    public @Nullable Number encode(@Nullable K key) {
        if (layout.form() == KeyLayout.Form.INTEGER) {
            return (Number) key;
        }
        return read(key) ? encoded() : null;
    }

    /** The same for a key whose parts are read from a record. */
    <T> @Nullable Number encode(RecordShape.Getter<T>[] from, T record) {
        return read(from, record) ? encoded() : null;
    }

    private long encoded() {
        if (layout.form() == KeyLayout.Form.PACKED) {
            return packed();
        }
        writeValues();
        return layout.hash().of(bytes.array(), bytes.length());
    }

    /** Returns the {@linkplain #canonical bytes} of the hashed key that was encoded last. */
    KeyBytes canonicalOfEncoded() {
        return bytes;
    }

    /**
     * Returns the canonical bytes of the key: equal if and only if the keys are equal.
     *
     * @return null where the key matches nothing
     */
    public byte @Nullable [] canonical(K key) {
        return read(key) ? canonical() : null;
    }

    <T> byte @Nullable [] canonical(RecordShape.Getter<T>[] from, T record) {
        return read(from, record) ? canonical() : null;
    }

    private byte[] canonical() {
        writeValues();
        return bytes.copy();
    }

    /**
     * Whether the key equals the one with those bytes.
     *
     * @param canonical null equals no key
     */
    public boolean isCanonical(K key, byte @Nullable [] canonical) {
        return canonical != null && read(key) && writes(canonical);
    }

    <T> boolean isCanonical(RecordShape.Getter<T>[] from, T record, byte @Nullable [] canonical) {
        return canonical != null && read(from, record) && writes(canonical);
    }

    private boolean writes(byte[] canonical) {
        writeValues();
        return bytes.equal(canonical);
    }

    private boolean read(K key) {
        count = 0;
        reader.read(key);
        return canMatch();
    }

    private <T> boolean read(RecordShape.Getter<T>[] from, T record) {
        for (int i = 0; i < from.length; i++) {
            values[i] = from[i].get(record);
        }
        return canMatch();
    }

    /** Whether the key can match: false if it contains a null and nulls match nothing. */
    private boolean canMatch() {
        if (nullsMatch) {
            return true;
        }
        for (Object value : values) {
            if (value == null) {
                return false;
            }
        }
        return true;
    }

    private long packed() {
        long packed = 0;
        for (int i = 0; i < parts.length; i++) {
            int width = parts[i].width();
            long mask = width == Long.SIZE ? -1L : (1L << width) - 1;
            // A shift by 64 does not shift, which is correct for a single part of 64 bits.
            packed <<= width;
            packed |= values[i] == null ? 0 : parts[i].bits(values[i]) & mask;
            if (nullsMatch) {
                packed = packed << 1 | (values[i] == null ? 1 : 0);
            }
        }
        return packed;
    }

    private void writeValues() {
        bytes.clear();
        for (int i = 0; i < parts.length; i++) {
            bytes.writeBoolean(values[i] == null);
            if (values[i] != null) {
                parts[i].write(values[i], bytes);
            }
        }
    }
}
