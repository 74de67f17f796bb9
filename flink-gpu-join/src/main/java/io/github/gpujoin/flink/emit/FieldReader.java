// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.emit.ColumnSource.Location;
import io.github.gpujoin.flink.record.FieldKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Finds one field's values in result batches and restores them. Fixed values are read in place, at
 * {@link #base()} and {@link #locate}; so are variable-width ones, whose location is that of their
 * length. Not thread-safe.
 */
final class FieldReader {

    private final ColumnSource source;
    private final FieldKind kind;
    private final TypeSerializer<?> serializer;
    private final DataInputDeserializer input = new DataInputDeserializer();
    private final @Nullable TextCache texts;
    private final @Nullable ShortTextCache shortTexts;
    private byte[] scratch = new byte[64];

    /** The field's own fixed-width fact column; null if it has none. */
    private final @Nullable PlainColumn fact;

    /** The bits of null keys; null if the field does not depend on them. */
    private final @Nullable PlainColumn nullKeys;

    private Chunk chunk;
    private ResultLayout layout;
    private byte @Nullable [] base;
    private long start;

    /** Keeps the compiler from dropping the loads of {@link #load}. */
    private int loaded;

    private long matched;

    FieldReader(JoinSpec spec, OutputField field) {
        this(spec, field, ColumnSource.of(spec, field));
    }

    private FieldReader(JoinSpec spec, OutputField field, ColumnSource source) {
        this.source = source;
        this.fact =
                source.location() == Location.FACT_FIXED ? new PlainColumn(source.index()) : null;
        this.nullKeys = source.nullKeyBits() != 0 ? new PlainColumn(spec.nullKeysColumn()) : null;
        this.kind = field.field().kind();
        TypeSerializer<?> shared = field.field().serializer();
        this.serializer = shared == null ? null : shared.duplicate();
        boolean isText = !source.isFixed() && kind == FieldKind.STRING;
        // A changelog frees the bytes of replaced rows, so that an address gets another text.
        boolean repeats =
                isText
                        && source.location() == Location.PAYLOAD_VARIABLE_WIDTH
                        && !spec.dimensions().get(source.dimension()).isChangelog();
        this.texts = repeats ? new TextCache() : null;
        this.shortTexts = isText ? new ShortTextCache() : null;
    }

    /** A reader of rows that have a match in the field's dimension, as the caller knows. */
    static FieldReader ofMatches(JoinSpec spec, OutputField field) {
        return new FieldReader(spec, field, ColumnSource.of(spec, field).present());
    }

    void bind(ResultBatch batch) {
        chunk = batch.chunk();
        if (batch.layout() != layout && texts != null) {
            // Another engine's batch: it may hold other text at the addresses that are remembered.
            texts.clear();
        }
        layout = batch.layout();
        if (source.unmatched() != ColumnSource.NONE) {
            matched = batch.matchedAddress(source.unmatched());
        }
        if (nullKeys != null) {
            nullKeys.bind(chunk);
        }
        switch (source.location()) {
            case FACT_FIXED -> {
                fact.bind(chunk);
                base = fact.base();
                start = fact.start();
            }
            case FACT_VARIABLE_WIDTH -> base = chunk.array();
            case PAYLOAD_FIXED -> {
                base = null;
                start = batch.payloadAddress(source.dimension(), source.index());
            }
            case PAYLOAD_VARIABLE_WIDTH -> {
                base = null;
                start = batch.variableWidthAddress(source.dimension());
            }
        }
    }

    ColumnSource source() {
        return source;
    }

    /** What {@link #locate} counts from, for {@link Memory}. */
    byte @Nullable [] base() {
        return base;
    }

    /** Where a fixed column starts. */
    long start() {
        return start;
    }

    FieldKind kind() {
        return kind;
    }

    /** Whether values are in a fixed column of the facts. */
    boolean isOfFacts() {
        return source.location() == Location.FACT_FIXED;
    }

    /** Whether values are the kind's own bits, all there, to be copied as they are. */
    boolean isRaw() {
        return source.isFixed() && source.type() == kind.columnType() && !source.mayBeAbsent();
    }

    /** Whether the row has no such value, so that there is nothing to {@link #locate}. */
    boolean isAbsent(int row, int probeRow) {
        return source.unmatched() != ColumnSource.NONE && Memory.getByte(null, matched + row) == 0
                || nullKeys != null
                        && (Memory.getInt(nullKeys.base(), nullKeys.start() + 4L * probeRow)
                                        & source.nullKeyBits())
                                != 0;
    }

    /** Where the fixed value stands, or the length that stands before the variable-width value. */
    long locate(int row, int probeRow) {
        return switch (source.location()) {
            case FACT_FIXED -> start + (long) source.type().widthBytes() * probeRow;
            case PAYLOAD_FIXED -> start + (long) source.type().widthBytes() * row;
            case FACT_VARIABLE_WIDTH -> walk(chunk.variableWidthStart(probeRow));
            case PAYLOAD_VARIABLE_WIDTH -> walk(Memory.getLong(start + 8L * row) + 4);
        };
    }

    private long walk(long at) {
        for (int i = source.index(); i > 0; i--) {
            at += 4 + Math.max(0, Memory.getInt(base, at));
        }
        return at;
    }

    /** Returns a reader for each dimension some of whose variable-width values are read. */
    static List<FieldReader> loading(FieldReader[] readers) {
        Map<Integer, FieldReader> byDimension = new TreeMap<>();
        for (FieldReader reader : readers) {
            if (reader.source.location() == Location.PAYLOAD_VARIABLE_WIDTH) {
                byDimension.putIfAbsent(reader.source.dimension(), reader);
            }
        }
        return List.copyOf(byDimension.values());
    }

    /**
     * Loads a dimension's variable-width values of some rows before they are read one by one. The
     * loads do not depend on each other, so the processor waits for many of them at a time.
     */
    void load(int fromRow, int toRow) {
        if (source.location() != Location.PAYLOAD_VARIABLE_WIDTH) {
            return;
        }
        long rows = start;
        int sum = 0;
        for (int row = fromRow; row < toRow; row++) {
            long at = Memory.getLong(rows + 8L * row);
            if (at != 0) { // of rows without a match
                sum += Memory.getByte(at + Memory.getInt(at));
            }
        }
        loaded = sum;
    }

    /** The value as an object of the field's type; null where the field is null. */
    @Nullable Object value(int row, int probeRow) throws IOException {
        if (source.mayBeAbsent() && isAbsent(row, probeRow)) {
            return null;
        }
        if (texts != null) {
            return payloadText(row, probeRow);
        }
        long at = locate(row, probeRow);
        return source.isFixed() ? fixed(at) : variableWidth(at);
    }

    private Object fixed(long at) {
        // A dimension's key is read from the facts, where it may be narrower or wider.
        if (source.type().isInteger()) {
            return kind.ofInteger(Memory.getInteger(base, at, source.type().widthBytes()));
        }
        return restore(at, source.type());
    }

    private @Nullable Object variableWidth(long at) throws IOException {
        int length = Memory.getInt(base, at);
        if (length < 0) {
            return null;
        }
        at += 4;
        return switch (kind) {
            case LONG -> Memory.getLong(base, at);
            case FLOAT, DOUBLE -> restore(at, kind.columnType());
            case STRING ->
                    length <= ShortTextCache.MAX_BYTES
                            ? shortTexts.text(base, at, length)
                            : new String(bytes(at, length), offset, length, StandardCharsets.UTF_8);
            case BYTES -> copy(at, length);
            case SERIALIZED -> {
                input.setBuffer(bytes(at, length), offset, length);
                yield serializer.deserialize(input);
            }
            default -> kind.ofInteger(Memory.getInteger(base, at, length));
        };
    }

    private Object restore(long at, ColumnType type) {
        return type == ColumnType.FLOAT32
                ? (Object) Float.intBitsToFloat(Memory.getInt(base, at))
                : (Object) Double.longBitsToDouble(Memory.getLong(base, at));
    }

    private @Nullable String payloadText(int row, int probeRow) throws IOException {
        long at = locate(row, probeRow);
        int length = Memory.getInt(at);
        if (length <= ShortTextCache.MAX_BYTES) {
            return length < 0 ? null : shortTexts.text(null, at + 4, length);
        }
        long address = Memory.getLong(start + 8L * row);
        int slot = texts.slot(address);
        return texts.holds(slot, address)
                ? texts.text(slot)
                : texts.put(slot, address, (String) variableWidth(at));
    }

    /** Where the last {@link #bytes} start in their array. */
    private int offset;

    /** The value's bytes in an array, at {@link #offset}: the chunk's own or a copy. */
    private byte[] bytes(long at, int length) {
        if (base != null) {
            offset = (int) (at - Memory.BYTES);
            return base;
        }
        if (scratch.length < length) {
            scratch = new byte[Math.max(length, 2 * scratch.length)];
        }
        Memory.copy(null, at, scratch, Memory.BYTES, length);
        offset = 0;
        return scratch;
    }

    private byte[] copy(long at, int length) {
        byte[] copy = new byte[length];
        Memory.copy(base, at, copy, Memory.BYTES, length);
        return copy;
    }
}
