// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin.AddedRows;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rows of one input of a {@link ReferenceSymmetricJoin}, by boxed key. */
final class ReferenceSymmetricTable {

    private static final int COPIED_CHUNK_BYTES = 64 << 10;

    /** A row, or several equal ones of a multiset. */
    static final class Entry {

        final Chunk chunk;
        final int row;
        final Object key;
        private final List<Object> identity;
        private final long timeMs;
        private final int copies;
        int matches;

        private Entry(
                Chunk chunk, int row, Object key, List<Object> identity, long timeMs, int copies) {
            this.chunk = chunk;
            this.row = row;
            this.key = key;
            this.identity = identity;
            this.timeMs = timeMs;
            this.copies = copies;
        }

        int copies() {
            return copies;
        }

        private Entry withCopies(int copies) {
            Entry changed = new Entry(chunk, row, key, identity, timeMs, copies);
            changed.matches = matches;
            return changed;
        }
    }

    private final SymmetricInput input;
    private final MemoryReservations memory;
    private final ChunkCursor cursor;

    /** By key, in the order of their addition. */
    private final Map<Object, List<Entry>> entries = new LinkedHashMap<>();

    /** Number of entries of each chunk, which is reserved as long as it has any. */
    private final Map<Chunk, Integer> entriesOfChunk = new IdentityHashMap<>();

    private long rowCount;
    private long memoryBytes;
    private long unknownRetractions;
    private long expiredRows;

    ReferenceSymmetricTable(SymmetricInput input, MemoryReservations memory) {
        this.input = input;
        this.memory = memory;
        this.cursor = new ChunkCursor(input.schema());
    }

    long rowCount() {
        return rowCount;
    }

    long memoryBytes() {
        return memoryBytes;
    }

    long unknownRetractions() {
        return unknownRetractions;
    }

    long expiredRows() {
        return expiredRows;
    }

    // ------------------------------------------------------------------ values of a row

    /** Returns the key of a row, or null if it matches nothing. */
    @Nullable Object key(Chunk chunk, int row) {
        if (input.nullKeyColumn() != SymmetricInput.NONE
                && chunk.getInt(input.nullKeyColumn(), row) != 0) {
            return null;
        }
        long key = chunk.getLong(input.keyColumn(), row);
        return input.isHashed() ? List.of(key, value(chunk, row, input.keyBytesColumn())) : key;
    }

    ChangeKind kind(Chunk chunk, int row) {
        return input.isChangelog()
                ? ChangeKind.of(chunk.getInt(input.changeColumn(), row))
                : ChangeKind.INSERT;
    }

    private List<Object> identity(Chunk chunk, int row) {
        List<Object> identity = new ArrayList<>();
        for (int column : input.identityColumns()) {
            identity.add(value(chunk, row, column));
        }
        return identity;
    }

    private @Nullable Object value(Chunk chunk, int row, int column) {
        ChunkCursor view = cursor.at(chunk, row);
        if (view.isNull(column)) {
            return null;
        }
        ColumnType type = input.schema().column(column).type();
        if (type.isFloat()) {
            return view.getDouble(column);
        }
        return switch (type) {
            case STRING -> view.getString(column);
            case BYTES -> ByteBuffer.wrap(view.getBytes(column));
            default -> view.getLong(column);
        };
    }

    // ------------------------------------------------------------------ changes

    /** Returns the entries with a key, in the order of their addition. */
    List<Entry> entries(Object key) {
        return entries.getOrDefault(key, List.of());
    }

    Iterable<List<Entry>> all() {
        return entries.values();
    }

    /**
     * Adds or retracts a row whose key is not null.
     *
     * @param matches number of rows of the other input that the row matches
     */
    void apply(Chunk chunk, int row, long timeMs, int matches) {
        Object key = key(chunk, row);
        List<Object> identity = identity(chunk, row);
        Entry found =
                input.identity() == RowIdentity.APPEND_ONLY
                        ? null
                        : entries(key).stream()
                                .filter(entry -> entry.identity.equals(identity))
                                .findFirst()
                                .orElse(null);
        if (kind(chunk, row).isAddition()) {
            int copies =
                    found != null && input.identity() == RowIdentity.MULTISET ? found.copies : 0;
            if (found != null) {
                remove(found);
            }
            Entry added = new Entry(chunk, row, key, identity, timeMs, copies + 1);
            added.matches = matches;
            add(added);
        } else if (found == null) {
            unknownRetractions++;
        } else if (found.copies == 1) {
            remove(found);
        } else {
            List<Entry> ofKey = entries.get(key);
            ofKey.set(ofKey.indexOf(found), found.withCopies(found.copies - 1));
            rowCount--;
        }
    }

    private void add(Entry entry) {
        int others = entriesOfChunk.getOrDefault(entry.chunk, 0);
        if (others == 0) {
            memory.reserve(entry.chunk.lengthBytes());
            memoryBytes += entry.chunk.lengthBytes();
        }
        entriesOfChunk.put(entry.chunk, others + 1);
        entries.computeIfAbsent(entry.key, key -> new ArrayList<>()).add(entry);
        rowCount += entry.copies;
    }

    private void remove(Entry entry) {
        List<Entry> ofKey = entries.get(entry.key);
        ofKey.remove(entry);
        if (ofKey.isEmpty()) {
            entries.remove(entry.key);
        }
        int others = entriesOfChunk.get(entry.chunk) - 1;
        if (others == 0) {
            entriesOfChunk.remove(entry.chunk);
            memory.release(entry.chunk.lengthBytes());
            memoryBytes -= entry.chunk.lengthBytes();
        } else {
            entriesOfChunk.put(entry.chunk, others);
        }
        rowCount -= entry.copies;
    }

    /** Removes the expired ones of some entries. */
    void removeExpired(long nowMs, Predicate<Entry> selected) {
        for (List<Entry> ofKey : List.copyOf(entries.values())) {
            for (Entry entry : List.copyOf(ofKey)) {
                if (nowMs - entry.timeMs >= input.timeToLiveMs() && selected.test(entry)) {
                    expiredRows += entry.copies;
                    remove(entry);
                }
            }
        }
    }

    /** Copies the rows of a partition, from the first added to the last. */
    void copyRows(int partition, Consumer<AddedRows> chunks) {
        List<Entry> rows = new ArrayList<>();
        entries.values().forEach(rows::addAll);
        rows.removeIf(entry -> entry.chunk.partition() != partition);
        rows.sort((left, right) -> Long.compare(left.timeMs, right.timeMs));
        ChunkBuilder builder = new ChunkBuilder(input.schema(), COPIED_CHUNK_BYTES);
        for (int i = 0; i < rows.size(); i++) {
            Entry entry = rows.get(i);
            boolean isLast = i == rows.size() - 1 || rows.get(i + 1).timeMs != entry.timeMs;
            for (int copy = 1; copy <= entry.copies; copy++) {
                builder.putRow(entry.chunk, entry.row);
                if (input.isChangelog()) {
                    builder.putInt(input.changeColumn(), ChangeKind.INSERT.code());
                }
                builder.endRow();
                if (builder.isFull() || isLast && copy == entry.copies) {
                    chunks.accept(
                            new AddedRows(
                                    builder.seal(ChunkDescriptor.FACTS, partition, 0, 0),
                                    entry.timeMs));
                }
            }
        }
    }

    void clear() {
        memory.release(memoryBytes);
        memoryBytes = 0;
        entries.clear();
        entriesOfChunk.clear();
    }
}
