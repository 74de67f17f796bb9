// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/**
 * The probe of one dimension.
 *
 * <p>It reads a batch of rows that matched all previous dimensions, and writes a row for each
 * match. It stops when its output is full and resumes there, so that memory is bounded for any
 * fan-out. Not thread-safe.
 */
final class ProbeLevel {

    private final int dimension;
    private final CpuJoinTable table;
    private final KeyLookup lookup;
    private final FactColumn factKeys;

    /** Loaded before each lookup; null if fact keys are never null. */
    private final @Nullable NullKeys nullKeys;

    /** The match of facts without a row in a left join; 0 for other joins. */
    private final long zeroRow;

    private final MatchBatch input;
    private final MatchBatch output;
    private final long widenedKeys;
    private final long origins;
    private final long foundOrigins;
    private final long foundRows;

    private Chunk chunk;

    /** Whether the table has at most one row for a key, while the chunk is joined. */
    private boolean atMostOne;

    /** Keys of the next input rows: an array and an offset in it, or null and an address. */
    private byte @Nullable [] keyBase;

    private long keys;
    private int inputRow;

    /**
     * Found keys whose rows are not all written: index of the next one, their number, its next row.
     */
    private int foundIndex;

    private int foundCount;
    private long foundRow;

    /**
     * @param nullKeys null if fact keys are never null
     * @param lookup finds the keys that the join kind keeps
     * @param zeroRow row that the lookup returns for a key without a row; 0 if it returns none
     */
    ProbeLevel(
            int dimension,
            FactColumn factKeys,
            @Nullable NullKeys nullKeys,
            CpuJoinTable table,
            KeyLookup lookup,
            long zeroRow,
            MatchBatch input,
            MatchBatch output,
            PagedMemory memory) {
        this.dimension = dimension;
        this.table = table;
        this.lookup = lookup;
        this.factKeys = factKeys;
        this.nullKeys = nullKeys;
        this.zeroRow = zeroRow;
        this.input = input;
        this.output = output;
        int capacityRows = Math.max(input.capacityRows(), output.capacityRows());
        this.widenedKeys = memory.allocate(8L * capacityRows);
        this.origins = memory.allocate(4L * capacityRows);
        this.foundOrigins = memory.allocate(4L * capacityRows);
        this.foundRows = memory.allocate(8L * capacityRows);
    }

    /** Starts a chunk, without input. */
    void open(Chunk chunk) {
        this.chunk = chunk;
        this.atMostOne = table.isUnique();
        this.inputRow = 0;
        this.foundIndex = 0;
        this.foundCount = 0;
        input.setRowCount(0);
        output.setRowCount(0);
    }

    /** Starts the new rows of the input. */
    void rewind() {
        inputRow = 0;
    }

    boolean hasInput() {
        return inputRow < input.rowCount() || foundIndex < foundCount;
    }

    /** Returns the probe row of the first input row whose output is incomplete. */
    int oldestProbeRow() {
        return input.probeRow(
                foundIndex < foundCount
                        ? inputRow + Memory.getInt(foundOrigins + 4L * foundIndex)
                        : inputRow);
    }

    /** Writes the matches of the next input rows until the output is full. */
    void advance() {
        if (atMostOne) {
            findAtMostOne();
        } else {
            if (foundIndex == foundCount) {
                findNext();
            }
            if (foundIndex < foundCount) {
                expand();
            }
        }
    }

    /** Writes the match of as many input rows as fit. */
    private void findAtMostOne() {
        int count = Math.min(input.rowCount() - inputRow, output.roomRows());
        loadKeys(count);
        int at = output.rowCount();
        long kept = output.matches(dimension);
        long target = kept == 0 ? foundRows : kept + 8L * at;
        if (input.isConsecutive()) {
            int first = input.probeRow(inputRow);
            long probeRows = output.probeRows() + 4L * at;
            int found = lookup.findFirst(keyBase, keys, count, first, probeRows, target);
            output.setRowCount(at + found);
        } else {
            passOn(lookup.findFirst(keyBase, keys, count, 0, origins, target));
        }
        inputRow += count;
    }

    /** Looks up the next input rows, to be expanded. */
    private void findNext() {
        int count = input.rowCount() - inputRow;
        loadKeys(count);
        foundCount = lookup.findFirst(keyBase, keys, count, 0, foundOrigins, foundRows);
        foundIndex = 0;
        if (foundCount == 0) {
            inputRow += count;
        } else {
            foundRow = Memory.getLong(foundRows);
        }
    }

    /** Writes one row for each match of the found keys. */
    private void expand() {
        int room = output.roomRows();
        long target = output.matches(dimension);
        target = target == 0 ? 0 : target + 8L * output.rowCount();
        int written = 0;
        while (written < room && foundIndex < foundCount) {
            Memory.putInt(origins + 4L * written, Memory.getInt(foundOrigins + 4L * foundIndex));
            if (target != 0) {
                Memory.putLong(target + 8L * written, foundRow);
            }
            written++;
            foundRow = foundRow == zeroRow ? 0 : table.nextMatch(foundRow);
            if (foundRow == 0 && ++foundIndex < foundCount) {
                foundRow = Memory.getLong(foundRows + 8L * foundIndex);
            }
        }
        passOn(written);
        if (foundIndex == foundCount) {
            inputRow = input.rowCount();
        }
    }

    /** Copies the columns of previous dimensions for the input rows in {@code origins}. */
    private void passOn(int count) {
        int at = output.rowCount();
        long probeRows = output.probeRows() + 4L * at;
        if (input.isConsecutive()) {
            addOrigins(input.probeRow(inputRow), probeRows, count);
        } else {
            gatherInts(input.probeRows() + 4L * inputRow, probeRows, count);
        }
        for (int d = 0; d < dimension; d++) {
            if (output.matches(d) != 0) {
                gatherLongs(input.matches(d) + 8L * inputRow, output.matches(d) + 8L * at, count);
            }
        }
        output.setRowCount(at + count);
    }

    private void addOrigins(int first, long target, int count) {
        for (int i = 0; i < count; i++) {
            Memory.putInt(target + 4L * i, first + Memory.getInt(origins + 4L * i));
        }
    }

    private void gatherInts(long source, long target, int count) {
        for (int i = 0; i < count; i++) {
            int origin = Memory.getInt(origins + 4L * i);
            Memory.putInt(target + 4L * i, Memory.getInt(source + 4L * origin));
        }
    }

    private void gatherLongs(long source, long target, int count) {
        for (int i = 0; i < count; i++) {
            int origin = Memory.getInt(origins + 4L * i);
            Memory.putLong(target + 8L * i, Memory.getLong(source + 8L * origin));
        }
    }

    /** Locates the fact keys of the next input rows, or copies them to contiguous 64-bit values. */
    private void loadKeys(int count) {
        keyBase = null;
        keys = widenedKeys;
        if (!input.isConsecutive()) {
            factKeys.gather(chunk, input.probeRows() + 4L * inputRow, count, keys);
        } else if (factKeys.locate(chunk, input.probeRow(inputRow), count)) {
            keyBase = factKeys.base();
            keys = factKeys.start();
        } else {
            factKeys.copy(chunk, input.probeRow(inputRow), count, keys);
        }
        if (nullKeys != null) {
            nullKeys.load(chunk, input, inputRow, count);
        }
    }
}
