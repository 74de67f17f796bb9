// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.MAX_DICTIONARY_SIZE;
import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.TILE_ROWS;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;

/**
 * Encodes one fixed-width column after another: {@code load} reads it, {@link #select} may choose
 * its plan, and {@link #write} writes its entry and body. Not thread-safe.
 */
final class ColumnEncoder {

    /** A plan that decodes faster is preferred while it is at most this much longer. */
    private static final double PREFERENCE = 1.02;

    private static final EncodingPlan DICTIONARY =
            new EncodingPlan(ValueEncoding.DICTIONARY, false);
    private static final EncodingPlan DICTIONARY_RUNS =
            new EncodingPlan(ValueEncoding.DICTIONARY, true);

    private final ColumnStatistics statistics = new ColumnStatistics();
    private final Dictionary dictionary = new Dictionary();
    private long[] values = new long[0];
    private long[] codes = new long[0];

    /** Values of the dictionary by code; only the first {@link #dictionarySize} count. */
    private long[] entries = new long[0];

    private int rowCount;
    private int widthBytes;

    private EncodingPlan plan = EncodingPlan.PLAIN;
    private int dictionarySize;
    private long bodyBytes;

    /** Reads a range of rows of a fixed-width column. Floats are read as their bits. */
    void load(Chunk chunk, int column, int firstRow, int rowCount) {
        read(chunk, column, firstRow, rowCount);
        statistics.measure(values, rowCount, widthBytes);
    }

    /**
     * Reads a range of rows of a fixed-width column, and uses a plan that was chosen for an earlier
     * chunk, or {@link EncodingPlan#PLAIN} if that is shorter.
     */
    void load(Chunk chunk, int column, int firstRow, int rowCount, EncodingPlan chosen) {
        read(chunk, column, firstRow, rowCount);
        if (chosen.isRunLength() || chosen.values() == ValueEncoding.DELTA) {
            statistics.measure(values, rowCount, widthBytes);
        } else {
            statistics.measureRange(values, rowCount, widthBytes);
        }
        prepare(chosen);
    }

    /**
     * Reads the codes of a column that has a dictionary already. It is stored in runs, or as codes
     * if these are shorter.
     *
     * @param packed a code of each row, each less than the size of the dictionary
     * @param dictionary its values, which the caller must not change before {@link #write}
     * @param size of the dictionary, at most {@link EncodedColumnDescriptor#MAX_DICTIONARY_SIZE}
     * @param widthBytes of a value
     */
    void loadCodes(PackedCodes packed, long[] dictionary, int size, int widthBytes) {
        rowCount = packed.count();
        this.widthBytes = widthBytes;
        makeRoom();
        for (int row = 0; row < rowCount; row++) {
            codes[row] = packed.get(row);
        }
        entries = dictionary;
        dictionarySize = size;
        statistics.measure(codes, rowCount, widthBytes);
        plan = DICTIONARY_RUNS;
        if (statistics.bodyBytes(DICTIONARY, size) <= statistics.bodyBytes(plan, size)) {
            plan = DICTIONARY;
        }
        bodyBytes = statistics.bodyBytes(plan, size);
    }

    private void makeRoom() {
        if (values.length < rowCount) {
            values = new long[rowCount];
            codes = new long[rowCount];
        }
    }

    private void read(Chunk chunk, int column, int firstRow, int count) {
        rowCount = count;
        widthBytes = chunk.schema().column(column).type().widthBytes();
        long at = chunk.columnStart(column) + (long) widthBytes * firstRow;
        makeRoom();
        PlainValues.load(chunk.array(), at, widthBytes, rowCount, values);
    }

    /** Chooses the plan of the shortest body, and returns it. */
    EncodingPlan select() {
        plan = EncodingPlan.PLAIN;
        dictionarySize = MAX_DICTIONARY_SIZE + 1;
        bodyBytes = statistics.bodyBytes(plan, dictionarySize);
        long shortest = bodyBytes;
        for (EncodingPlan candidate : EncodingPlan.ALL) {
            if (candidate.values() != ValueEncoding.DICTIONARY) {
                shortest = Math.min(shortest, statistics.bodyBytes(candidate, dictionarySize));
            }
        }
        int distinct = distinctValues(shortest);
        for (EncodingPlan candidate : EncodingPlan.ALL) {
            shortest = Math.min(shortest, statistics.bodyBytes(candidate, distinct));
        }
        for (EncodingPlan candidate : EncodingPlan.ALL) {
            long bytes = statistics.bodyBytes(candidate, distinct);
            if (bytes <= PREFERENCE * shortest) {
                plan = candidate;
                bodyBytes = bytes;
                break;
            }
        }
        dictionarySize = plan.values() == ValueEncoding.DICTIONARY ? distinct : 0;
        return plan;
    }

    /**
     * Returns the count of distinct values if a dictionary of them may be shorter than a body
     * without one, or more than a dictionary can have.
     */
    private int distinctValues(long shortest) {
        long mostValues = Math.min(MAX_DICTIONARY_SIZE, shortest / widthBytes);
        boolean isWhole = dictionary.build(values, rowCount, (int) mostValues, codes);
        entries = dictionary.values();
        return isWhole ? dictionary.size() : MAX_DICTIONARY_SIZE + 1;
    }

    private void prepare(EncodingPlan chosen) {
        long plainBytes = statistics.bodyBytes(EncodingPlan.PLAIN, 0);
        use(chosen, plainBytes);
        if (bodyBytes > plainBytes) {
            use(EncodingPlan.PLAIN, plainBytes);
        }
    }

    /**
     * Uses a plan, which may be impossible: then {@link #bodyBytes()} is huge.
     *
     * @param mostBytes limit of the bytes of a dictionary
     */
    void use(EncodingPlan chosen, long mostBytes) {
        plan = chosen;
        dictionarySize = plan.values() == ValueEncoding.DICTIONARY ? distinctValues(mostBytes) : 0;
        bodyBytes = statistics.bodyBytes(plan, dictionarySize);
    }

    /** Returns the bytes of the column's body under the plan. */
    long bodyBytes() {
        return bodyBytes;
    }

    /**
     * Returns the bytes of the column's body under a plan, or a huge number if it is impossible.
     */
    long bodyBytes(EncodingPlan candidate) {
        boolean isDictionary = candidate.values() == ValueEncoding.DICTIONARY;
        return statistics.bodyBytes(candidate, isDictionary ? distinctValues(Long.MAX_VALUE) : 0);
    }

    /**
     * Writes the column to zeroed bytes.
     *
     * @param entryOffset where the column's entry goes
     * @param bodyOffset where its body goes, a multiple of 16
     */
    void write(byte[] target, int entryOffset, int bodyOffset) {
        int runCount = plan.isRunLength() ? statistics.runCount : 0;
        int valueBits = statistics.valueBits(plan, dictionarySize);
        int runBits = statistics.runBits(plan);
        long base = statistics.base(plan);
        int encoding =
                plan.values().ordinal()
                        | (plan.isRunLength() ? EncodedColumnDescriptor.RUN_LENGTH : 0);
        long entry = Memory.BYTES + entryOffset;
        Memory.putByte(target, entry + EncodedColumnDescriptor.ENCODING_OFFSET, (byte) encoding);
        Memory.putByte(target, entry + EncodedColumnDescriptor.VALUE_BITS_OFFSET, (byte) valueBits);
        Memory.putByte(target, entry + EncodedColumnDescriptor.RUN_BITS_OFFSET, (byte) runBits);
        Memory.putByte(target, entry + EncodedColumnDescriptor.WIDTH_OFFSET, (byte) widthBytes);
        Memory.putInt(
                target, entry + EncodedColumnDescriptor.DICTIONARY_SIZE_OFFSET, dictionarySize);
        Memory.putInt(target, entry + EncodedColumnDescriptor.BODY_OFFSET_OFFSET, bodyOffset);
        Memory.putInt(target, entry + EncodedColumnDescriptor.BODY_LENGTH_OFFSET, (int) bodyBytes);
        Memory.putLong(target, entry + EncodedColumnDescriptor.BASE_OFFSET, base);
        Memory.putInt(target, entry + EncodedColumnDescriptor.RUN_COUNT_OFFSET, runCount);

        BodySections sections =
                BodySections.of(
                        plan, rowCount, runCount, widthBytes, valueBits, runBits, dictionarySize);
        long body = Memory.BYTES + bodyOffset;
        long[] stored = values;
        if (plan.values() == ValueEncoding.DICTIONARY) {
            PlainValues.store(
                    entries, dictionarySize, target, body + sections.dictionary(), widthBytes);
            stored = codes;
        }
        int storedCount = rowCount;
        if (plan.isRunLength()) {
            storedCount = writeRuns(target, body, sections, stored, runBits);
            stored = codes;
        }
        switch (plan.values()) {
            case PLAIN -> {
                PlainValues.store(
                        stored, storedCount, target, body + sections.values(), widthBytes);
                return;
            }
            case BIT_PACKED -> subtract(stored, storedCount, base);
            case DELTA -> differences(target, body, sections, stored, storedCount, base);
            case DICTIONARY -> {
                if (stored != codes) {
                    System.arraycopy(stored, 0, codes, 0, storedCount);
                }
            }
        }
        BitPacking.pack(codes, storedCount, valueBits, target, body + sections.values());
    }

    /** Leaves the value of each run in {@link #codes}, and returns their count. */
    private int writeRuns(
            byte[] target, long body, BodySections sections, long[] stored, int runBits) {
        long[] lengths = new long[statistics.runCount];
        int run = 0;
        int tile = 0;
        for (int from = 0; from < rowCount; from += TILE_ROWS, tile++) {
            Memory.putInt(target, body + sections.firstRuns() + 4L * tile, run);
            int to = Math.min(rowCount, from + TILE_ROWS);
            int start = from;
            for (int row = from + 1; row <= to; row++) {
                if (row == to || stored[row] != stored[start]) {
                    codes[run] = stored[start];
                    lengths[run++] = row - start - 1;
                    start = row;
                }
            }
        }
        Memory.putInt(target, body + sections.firstRuns() + 4L * tile, run);
        BitPacking.pack(lengths, run, runBits, target, body + sections.runLengths());
        return run;
    }

    private void subtract(long[] stored, int count, long base) {
        for (int i = 0; i < count; i++) {
            codes[i] = stored[i] - base;
        }
    }

    private void differences(
            byte[] target, long body, BodySections sections, long[] stored, int count, long base) {
        int tiles = EncodedColumnDescriptor.tileCount(rowCount);
        // From the end, since codes may be the stored values.
        int end = count;
        for (int tile = tiles - 1; tile >= 0; tile--) {
            int first =
                    plan.isRunLength()
                            ? Memory.getInt(target, body + sections.firstRuns() + 4L * tile)
                            : tile * TILE_ROWS;
            for (int i = end - 1; i > first; i--) {
                codes[i] = stored[i] - stored[i - 1] - base;
            }
            Memory.putLong(target, body + sections.firstValues() + 8L * tile, stored[first]);
            codes[first] = 0;
            end = first;
        }
    }
}
