// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkSchema;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * How records of a type stand in chunks: which fields, in which columns, which of them are keys.
 *
 * <p>Primitive numbers of POJOs become fixed columns (char and boolean as INT32). Boxed numbers,
 * text, byte arrays and all fields of Rows and tuples become nullable, variable-width columns; any
 * other type becomes BYTES written by its Flink serializer. Keys are always fixed: a row with a
 * null key matches nothing and does not enter a chunk, unless the layout {@linkplain
 * #keepingNullKeys keeps} it. Immutable; travels with the job.
 */
public final class RecordLayout<T> implements Serializable {

    /** Fixed column of the integer that stands for a {@link SelectedKey}. */
    public static final String KEY = "$key";

    /** BYTES column that holds the whole record. */
    public static final String RECORD = "$record";

    /** Fixed INT64 column of the record's event timestamp, {@link Long#MIN_VALUE} for none. */
    public static final String TIMESTAMP = "$timestamp";

    /**
     * Fixed INT32 column of bits that say which keys are null, as {@link
     * io.github.gpujoin.core.engine.JoinSpec#nullKeysColumn}.
     */
    public static final String NULL_KEYS = "$nullKeys";

    /**
     * Fixed INT64 column for the number that a join gives a row; a packer writes 0 there, or -1
     * where the key is null.
     */
    public static final String NUMBER = "$number";

    /** Fixed INT32 column of {@link io.github.gpujoin.core.engine.RowChange} codes. */
    public static final String CHANGE = "$change";

    private static final long serialVersionUID = 1L;

    private final TypeInformation<T> type;
    private final List<RecordField> fields;
    private final List<KeyColumn<T>> keys;
    private final boolean whole;
    private final Map<String, Integer> nullKeyBits;
    private final ChunkSchema schema;

    private RecordLayout(
            TypeInformation<T> type,
            List<RecordField> fields,
            List<KeyColumn<T>> keys,
            boolean whole,
            Map<String, Integer> nullKeyBits) {
        this.type = type;
        this.fields = List.copyOf(fields);
        this.keys = List.copyOf(keys);
        this.whole = whole;
        this.nullKeyBits = Map.copyOf(nullKeyBits);
        this.schema = ChunkSchema.of(fields.stream().map(RecordField::column).toList());
    }

    /**
     * Some fields of records.
     *
     * @param columns names of the wanted fields, in the order of the schema
     * @param keys those of them that are join keys
     * @throws IllegalArgumentException where a field is missing or cannot be a key
     */
    public static <T> RecordLayout<T> of(
            TypeInformation<T> type,
            List<String> columns,
            Collection<String> keys,
            SerializerConfig config) {
        RecordShape<T> shape = RecordShape.of(type);
        List<RecordField> fields = new ArrayList<>();
        for (String name : columns) {
            if (isReserved(name)) {
                throw new IllegalArgumentException(
                        "Column name is reserved by the join: name="
                                + name
                                + ". Rename the column.");
            }
            RecordField field = field(shape, name, config);
            fields.add(keys.contains(name) ? field.asKey(type) : field);
        }
        for (String key : keys) {
            if (!columns.contains(key)) {
                throw new IllegalArgumentException(
                        "Join key is not selected: key=%s, columns=%s. Add it to the columns."
                                .formatted(key, columns));
            }
        }
        return new RecordLayout<>(type, fields, List.of(), false, Map.of());
    }

    /**
     * Whole records, to be given out again by a {@link io.github.gpujoin.flink.emit.ResultEmitter}:
     * their key, and either all fields of a POJO or the record as its serializer writes it.
     */
    public static <T> RecordLayout<T> whole(
            TypeInformation<T> type, SelectedKey<T, ?> key, SerializerConfig config) {
        List<RecordField> fields = new ArrayList<>();
        KeyColumn<T> column = new KeyColumn<>(KEY, key, false);
        fields.add(column.integerField());
        if (RecordKind.of(type) == RecordKind.POJO) {
            RecordShape<T> shape = RecordShape.of(type);
            shape.names().forEach(name -> fields.add(field(shape, name, config)));
        } else {
            fields.add(
                    new RecordField(
                            RECORD,
                            FieldKind.SERIALIZED,
                            true,
                            type,
                            type.createSerializer(config)));
        }
        return new RecordLayout<>(type, fields, List.of(column), true, Map.of());
    }

    /**
     * The same layout of whole records, with the canonical bytes of the key after its column,
     * unless the key is exact.
     */
    public RecordLayout<T> withKeyBytes() {
        List<RecordField> extended = new ArrayList<>(keys.get(0).fields());
        extended.addAll(fields.subList(1, fields.size()));
        return new RecordLayout<>(type, extended, keys, whole, nullKeyBits);
    }

    /** The same layout of some fields, with columns of such keys in front of all others. */
    public RecordLayout<T> withKeys(List<KeyColumn<T>> computed) {
        List<RecordField> extended = new ArrayList<>();
        computed.forEach(key -> extended.addAll(key.fields()));
        extended.addAll(fields);
        return new RecordLayout<>(type, extended, computed, whole, nullKeyBits);
    }

    /** The same layout with the column {@link #TIMESTAMP} after all others. */
    public RecordLayout<T> withTimestamp() {
        return with(TIMESTAMP, FieldKind.LONG, Types.LONG, nullKeyBits);
    }

    /**
     * The same layout, which keeps rows where such a key is null: with the column {@link
     * #NULL_KEYS} after all others, unless none of the keys can be null. What a key column holds
     * then is of no meaning.
     *
     * @param bits of each key that may be null, to be set where it is
     */
    public RecordLayout<T> keepingNullKeys(Map<String, Integer> bits) {
        Map<String, Integer> kept = new HashMap<>(bits);
        kept.keySet().removeIf(key -> !isNullable(key));
        return kept.isEmpty() ? this : with(NULL_KEYS, FieldKind.INT, Types.INT, kept);
    }

    /**
     * The same layout of whole records, which keeps rows where the key is null: with the column
     * {@link #NUMBER} after all others.
     */
    public RecordLayout<T> numbered() {
        return with(NUMBER, FieldKind.LONG, Types.LONG, Map.of(KEY, 1));
    }

    /** The same layout with the column {@link #CHANGE} after all others. */
    public RecordLayout<T> withChanges() {
        return with(CHANGE, FieldKind.INT, Types.INT, nullKeyBits);
    }

    /** Whether rows are changes, so that records of every kind are rows. */
    public boolean hasChanges() {
        return schema.indexOf(CHANGE) >= 0;
    }

    private boolean isNullable(String name) {
        for (KeyColumn<T> computed : keys) {
            if (computed.name().equals(name)) {
                return computed.key().layout().nulls() == KeyLayout.Nulls.MATCH_NOTHING;
            }
        }
        return !RecordShape.of(type).isPrimitive(name);
    }

    private RecordLayout<T> with(
            String name, FieldKind kind, TypeInformation<?> fieldType, Map<String, Integer> bits) {
        List<RecordField> extended = new ArrayList<>(fields);
        extended.add(new RecordField(name, kind, false, fieldType, null));
        return new RecordLayout<>(type, extended, keys, whole, bits);
    }

    /** Of each key column that may be null, its bits in {@link #NULL_KEYS}. */
    public Map<String, Integer> nullKeyBits() {
        return nullKeyBits;
    }

    private static RecordField field(RecordShape<?> shape, String name, SerializerConfig config) {
        return RecordField.of(name, shape.typeOf(name), shape.isPrimitive(name), config);
    }

    /** Whether a column of this name is not a field of the record. */
    public static boolean isReserved(String name) {
        return name.equals(KEY)
                || name.equals(RECORD)
                || name.equals(TIMESTAMP)
                || name.equals(NULL_KEYS)
                || name.equals(NUMBER)
                || name.equals(CHANGE)
                || KeyColumn.isReserved(name);
    }

    public TypeInformation<T> type() {
        return type;
    }

    public ChunkSchema schema() {
        return schema;
    }

    /** One for each column of the schema, in order. */
    public List<RecordField> fields() {
        return fields;
    }

    /**
     * The field in the column.
     *
     * @throws IllegalArgumentException naming the columns there are
     */
    public RecordField field(String column) {
        return fields.get(schema.require(column));
    }

    /** Whether records can be made again from their columns: see {@link #whole}. */
    public boolean isWhole() {
        return whole;
    }

    /** Keys that are no column of the record; one of whole records. */
    public List<KeyColumn<T>> keys() {
        return keys;
    }

    /** A writer of records into chunk builders of this schema, for one thread. */
    public RecordEncoder<T> encoder() {
        return new RecordEncoder<>(this);
    }
}
