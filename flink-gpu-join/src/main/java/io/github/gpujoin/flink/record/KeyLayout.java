// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.KeyHash;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/**
 * Encoding of keys of a type as 64-bit integers, because engines compare integers only.
 *
 * <pre>
 *   INTEGER   byte, short, int, long                         the integer itself
 *   PACKED    parts with at most 64 bits in total            the bits of all parts
 *   HASHED    longer keys, and keys of variable length       a hash of the parts' bytes
 * </pre>
 *
 * <p>Equal keys have equal integers. In the first two forms, equal integers also mean equal keys;
 * keys with equal hashes must be compared by their {@linkplain KeyEncoder#canonical bytes}.
 * Immutable; serialized with the job.
 */
public final class KeyLayout<K> implements Serializable {

    /** Equality of null keys and of nulls in composite keys. */
    public enum Nulls {
        /** Nothing, as in SQL's {@code =}. */
        MATCH_NOTHING,
        /** Null, as in SQL's {@code IS NOT DISTINCT FROM}. */
        MATCH_NULLS
    }

    enum Form {
        INTEGER,
        PACKED,
        HASHED
    }

    /** A hash of the first bytes of an array. */
    @FunctionalInterface
    public interface Hash extends Serializable {
        long of(byte[] bytes, int length);
    }

    private static final long serialVersionUID = 1L;

    private final TypeInformation<K> type;

    /** Of each part, so that some columns of a key may be null-safe and others not. */
    private final List<Nulls> nulls;

    private final List<KeyPart> parts;
    private final Form form;
    private final Hash hash;

    private KeyLayout(TypeInformation<K> type, List<Nulls> nulls, List<KeyPart> parts, Hash hash) {
        this.type = type;
        this.nulls = List.copyOf(nulls);
        this.parts = List.copyOf(parts);
        this.form = formOf(type, parts, nulls);
        this.hash = hash;
    }

    /**
     * @throws IllegalArgumentException if the type cannot be a key, or is a record without fields
     */
    public static <K> KeyLayout<K> of(TypeInformation<K> type, Nulls nulls) {
        List<KeyPart> parts = new ArrayList<>();
        collectParts(type, type, parts);
        if (parts.isEmpty()) {
            throw new IllegalArgumentException(
                    "Join key type without fields: type=%s. Use a type with at least one field."
                            .formatted(type));
        }
        return new KeyLayout<>(
                type, Collections.nCopies(parts.size(), nulls), parts, KeyHash::hash);
    }

    /**
     * Returns the same layout with an equality of nulls for each part.
     *
     * @param ofParts one for each column of a key of columns that are not records
     */
    KeyLayout<K> withNulls(List<Nulls> ofParts) {
        if (ofParts.size() != parts.size()) {
            throw new IllegalArgumentException(
                    "Key parts and their nulls differ in number: parts=%s, nulls=%s"
                            .formatted(parts, ofParts));
        }
        return new KeyLayout<>(type, ofParts, parts, hash);
    }

    /** Returns the same layout with another hash. Collisions do not affect equality. */
    public KeyLayout<K> hashedBy(Hash other) {
        return new KeyLayout<>(type, nulls, parts, other);
    }

    /**
     * Returns the same layout with each integer as wide as the wider one of both sides, so that an
     * int also equals a long inside a composite key.
     *
     * @param other that this one {@linkplain #isComparableTo is comparable to}
     */
    public KeyLayout<K> alignedWith(KeyLayout<?> other) {
        List<KeyPart> wider = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            KeyPart mine = parts.get(i);
            KeyPart others = other.parts.get(i);
            wider.add(mine.width() < others.width() ? others : mine);
        }
        return new KeyLayout<>(type, nulls, wider, hash);
    }

    private static void collectParts(
            TypeInformation<?> type, TypeInformation<?> part, List<KeyPart> into) {
        if (RecordShape.isRecord(part)) {
            RecordShape<?> shape = RecordShape.of(part);
            shape.names().forEach(name -> collectParts(type, shape.typeOf(name), into));
            return;
        }
        into.add(
                KeyPart.of(part)
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "Unsupported type in a join key: part=%s, key=%s.\n%s"
                                                        .formatted(part, type, remedy(part)))));
    }

    private static String remedy(TypeInformation<?> part) {
        if (part.getTypeClass().isEnum()) {
            return "Use name() or ordinal().";
        }
        if (part.getTypeClass() == UUID.class) {
            return "Use toString(), or its two longs.";
        }
        return "Use numbers, booleans, dates, times, timestamps, text, byte arrays, or tuples, Rows or"
                + " POJOs of these.";
    }

    private static Form formOf(TypeInformation<?> type, List<KeyPart> parts, List<Nulls> nulls) {
        boolean isNullable = nulls.get(0) == Nulls.MATCH_NULLS;
        if (!RecordShape.isRecord(type) && parts.get(0).isInteger() && !isNullable) {
            return Form.INTEGER;
        }
        boolean wide = parts.stream().anyMatch(KeyPart::isWide);
        int bits =
                parts.stream().mapToInt(KeyPart::width).sum()
                        + Collections.frequency(nulls, Nulls.MATCH_NULLS);
        return wide || bits > Long.SIZE ? Form.HASHED : Form.PACKED;
    }

    public TypeInformation<K> type() {
        return type;
    }

    /** Whether equal integers mean equal keys, so that no collision check is needed. */
    public boolean isExact() {
        return form != Form.HASHED;
    }

    /**
     * Whether keys of this layout can be compared with those of another.
     *
     * @param other of the other side of a join
     */
    public boolean isComparableTo(KeyLayout<?> other) {
        if (!nulls.equals(other.nulls) || parts.size() != other.parts.size()) {
            return false;
        }
        for (int i = 0; i < parts.size(); i++) {
            KeyPart mine = parts.get(i);
            KeyPart others = other.parts.get(i);
            if (mine != others && !(mine.isInteger() && others.isInteger())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the parts of the key and the equality of nulls as text, empty for one integer. Two
     * layouts with equal texts map equal keys to equal integers.
     */
    public String encodingText() {
        if (form == Form.INTEGER) {
            return "";
        }
        if (nulls() == Nulls.MATCH_NULLS) {
            return parts + " null-safe";
        }
        return nulls.contains(Nulls.MATCH_NULLS) ? parts + " " + nulls : parts.toString();
    }

    /** Returns the kind of the key's column. */
    FieldKind kind() {
        return form == Form.INTEGER ? FieldKind.of(type) : FieldKind.LONG;
    }

    List<KeyPart> parts() {
        return parts;
    }

    /** Returns the equality of nulls; {@link Nulls#MATCH_NOTHING} if that of any part is. */
    Nulls nulls() {
        return nulls.contains(Nulls.MATCH_NOTHING) ? Nulls.MATCH_NOTHING : Nulls.MATCH_NULLS;
    }

    /** Returns the equality of nulls of each part. */
    List<Nulls> nullsOfParts() {
        return nulls;
    }

    Form form() {
        return form;
    }

    Hash hash() {
        return hash;
    }

    /** Returns an encoder for one thread. */
    public KeyEncoder<K> encoder() {
        return new KeyEncoder<>(this);
    }

    @Override
    public String toString() {
        return type + ", " + form + ", " + nulls;
    }
}
