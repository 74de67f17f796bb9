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
    private final boolean[] nullsMatch;
    private final Object[] values;

    /** Getters of the elements of {@link #values}. */
    private final RecordShape.Getter<Object[]>[] ofValues;

    private final KeyBytes bytes = new KeyBytes();
    private int count;
    private long integer;

    @SuppressWarnings({"unchecked", "rawtypes"})
    KeyEncoder(KeyLayout<K> layout) {
        this.layout = layout;
        this.parts = layout.parts().toArray(KeyPart[]::new);
        this.values = new Object[parts.length];
        this.ofValues = new RecordShape.Getter[parts.length];
        for (int i = 0; i < parts.length; i++) {
            int part = i;
            ofValues[i] = all -> all[part];
        }
        this.nullsMatch = new boolean[parts.length];
        for (int i = 0; i < parts.length; i++) {
            nullsMatch[i] = layout.nullsOfParts().get(i) == KeyLayout.Nulls.MATCH_NULLS;
        }
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

    private Object[] values(K key) {
        count = 0;
        reader.read(key);
        return values;
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
        return read(ofValues, values(key)) ? (Number) integer : null;
    }

    /**
     * Encodes a key whose parts are read from a record: no object for the key is needed, and none
     * is kept.
     *
     * @return whether the key can match, so that it has an {@link #integer}
     */
    <T> boolean read(RecordShape.Getter<T>[] from, T record) {
        if (layout.form() != KeyLayout.Form.HASHED) {
            return pack(from, record);
        }
        boolean canMatch = write(from, record);
        if (canMatch) {
            integer = layout.hash().of(bytes.array(), bytes.length());
        }
        return canMatch;
    }

    /** Returns the integer of the key that was {@link #read} last. */
    long integer() {
        return integer;
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
        return canonical(ofValues, values(key));
    }

    <T> byte @Nullable [] canonical(RecordShape.Getter<T>[] from, T record) {
        return write(from, record) ? bytes.copy() : null;
    }

    /**
     * Whether the key equals the one with those bytes.
     *
     * @param canonical null equals no key
     */
    public boolean isCanonical(K key, byte @Nullable [] canonical) {
        return isCanonical(ofValues, values(key), canonical);
    }

    <T> boolean isCanonical(RecordShape.Getter<T>[] from, T record, byte @Nullable [] canonical) {
        return canonical != null && write(from, record) && bytes.equal(canonical);
    }

    /** Whether the key can match: false if it contains a null and nulls match nothing. */
    private <T> boolean pack(RecordShape.Getter<T>[] from, T record) {
        long packed = 0;
        for (int i = 0; i < parts.length; i++) {
            Object value = from[i].get(record);
            if (value == null && !nullsMatch[i]) {
                return false;
            }
            int width = parts[i].width();
            long mask = width == Long.SIZE ? -1L : (1L << width) - 1;
            // A shift by 64 does not shift, which is correct for a single part of 64 bits.
            packed <<= width;
            packed |= value == null ? 0 : parts[i].bits(value) & mask;
            if (nullsMatch[i]) {
                packed = packed << 1 | (value == null ? 1 : 0);
            }
        }
        integer = packed;
        return true;
    }

    /** Whether the key can match: false if it contains a null and nulls match nothing. */
    private <T> boolean write(RecordShape.Getter<T>[] from, T record) {
        bytes.clear();
        for (int i = 0; i < parts.length; i++) {
            Object value = from[i].get(record);
            if (value == null && !nullsMatch[i]) {
                return false;
            }
            bytes.writeBoolean(value == null);
            if (value instanceof String text) {
                bytes.writeText(text); // without a call of a part's own method
            } else if (value != null) {
                parts[i].write(value, bytes);
            }
        }
        return true;
    }
}
