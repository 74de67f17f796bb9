// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Joins partitions, for one thread. The smaller side of each partition builds. Not thread-safe.
 *
 * <p>Pairs of outer joins mark the build tuples that they match; those without a mark follow at the
 * end of the partition. A semi or anti join whose left side builds removes the tuples that it
 * matches, so that each is visited once, however often its key occurs on the right.
 */
final class PartitionJoin {

    private final BulkJoinKind kind;
    private final Map<JoinSide, List<PartitionStore>> stores;
    private final Map<JoinSide, TupleLayout> layouts;
    private final PartitionTable table;
    private final SegmentReader segments;
    private final MatchSink sink;
    private final boolean isExact;

    /**
     * @param stores of each input, of all threads
     * @param table with room for the smaller side of each partition that is joined, and what its
     *     spilled tuples refer to
     * @param segments with room for the longest block
     */
    PartitionJoin(
            BulkJoinSpec spec,
            Map<JoinSide, List<PartitionStore>> stores,
            Map<JoinSide, TupleLayout> layouts,
            PartitionTable table,
            SegmentReader segments,
            MatchSink sink) {
        this.kind = spec.kind();
        this.stores = new EnumMap<>(stores);
        this.layouts = new EnumMap<>(layouts);
        this.table = table;
        this.segments = segments;
        this.sink = sink;
        this.isExact = !layouts.get(JoinSide.LEFT).hasKeyBytes();
    }

    /** Returns the side that builds the table of a partition. */
    static JoinSide buildSide(Map<JoinSide, List<PartitionStore>> stores, int partition) {
        return tuples(stores, JoinSide.LEFT, partition) < tuples(stores, JoinSide.RIGHT, partition)
                ? JoinSide.LEFT
                : JoinSide.RIGHT;
    }

    /** Returns the tuples of one side of a partition. */
    static long tuples(Map<JoinSide, List<PartitionStore>> stores, JoinSide side, int partition) {
        return stores.get(side).stream().mapToLong(store -> store.tupleCount(partition)).sum();
    }

    /** Joins a partition and flushes its results. */
    void join(int partition) throws InterruptedException {
        JoinSide build = buildSide(stores, partition);
        if (tuples(stores, build, partition) == 0 && !kind.keepsUnmatched(build.other())) {
            return; // without reading the probe side
        }
        sink.open(build);
        long outOfLine =
                table.open(
                        build, tuples(stores, build, partition), layouts.get(build).tupleBytes());
        table.build(segments.load(stores.get(build), partition, outOfLine));
        long probeBytes = layouts.get(build.other()).tupleBytes();
        forEachExtent(
                stores.get(build.other()),
                partition,
                (address, count) ->
                        Blocks.forEach(
                                count,
                                (from, to) ->
                                        probe(
                                                build,
                                                address + from * probeBytes,
                                                (int) (to - from))));
        if (kind.returnsPairs() && kind.keepsUnmatched(build)) {
            addUnmarked(build);
        } else if (kind == BulkJoinKind.ANTI && build == JoinSide.LEFT) {
            addRemaining();
        }
        sink.flush();
    }

    private void probe(JoinSide build, long address, int count) throws InterruptedException {
        if (kind.returnsPairs()) {
            probePairs(build, address, count);
        } else if (build == JoinSide.RIGHT) {
            probeExistence(address, count);
        } else {
            probeRemoving(address, count);
        }
    }

    /** Adds the tuples of a partition, none of which has a match. */
    void addUnmatched(int partition) throws InterruptedException {
        for (JoinSide side : JoinSide.values()) {
            int bytes = layouts.get(side).tupleBytes();
            forEachExtent(
                    stores.get(side),
                    partition,
                    (address, count) -> {
                        for (int i = 0; i < count; i++) {
                            sink.single(side, address + (long) i * bytes);
                        }
                    });
        }
        sink.flush();
    }

    /** Visits all tuples of one side of a partition, spilled ones one segment after another. */
    private void forEachExtent(
            List<PartitionStore> lanes, int partition, PartitionStore.ExtentVisitor visitor)
            throws InterruptedException {
        for (PartitionStore store : lanes) {
            store.forEachExtent(partition, visitor);
            for (SpillFile.Segment segment : store.segments(partition)) {
                segments.probe(
                        segment,
                        (address, count) -> {
                            visitor.visit(address, count);
                            sink.flush(); // the next block overwrites this one
                        });
            }
        }
    }

    // ------------------------------------------------------------------ pairs

    private void probePairs(JoinSide build, long address, int count) throws InterruptedException {
        long tuples = table.tuples();
        long starts = table.starts();
        long marks = table.marks();
        int shift = table.slotShift();
        long buildBytes = layouts.get(build).tupleBytes();
        long probeBytes = layouts.get(build.other()).tupleBytes();
        boolean marksBuild = kind.keepsUnmatched(build);
        boolean keepsProbe = kind.keepsUnmatched(build.other());
        for (int i = 0; i < count; i++) {
            long probe = address + i * probeBytes;
            long word = Memory.getLong(probe);
            long slot = starts + 4 * (SlotHash.hash(word) >>> shift);
            int end = Memory.getInt(slot + 4);
            boolean isMatched = false;
            for (int number = Memory.getInt(slot); number < end; number++) {
                long tuple = tuples + number * buildBytes;
                if (Memory.getLong(tuple) == word && hasEqualKey(tuple, probe)) {
                    isMatched = true;
                    sink.pair(tuple, probe);
                    if (marksBuild) {
                        Memory.putByte(null, marks + number, (byte) 1);
                    }
                }
            }
            if (keepsProbe && !isMatched) {
                sink.single(build.other(), probe);
            }
        }
    }

    private void addUnmarked(JoinSide build) throws InterruptedException {
        long bytes = layouts.get(build).tupleBytes();
        Blocks.forEach(
                table.count(),
                (from, to) -> {
                    for (long number = from; number < to; number++) {
                        if (Memory.getByte(table.marks() + number) == 0) {
                            sink.single(build, table.tuples() + number * bytes);
                        }
                    }
                });
    }

    // ------------------------------------------------------------------ semi and anti joins

    /** Probes right tuples with left ones. */
    private void probeExistence(long address, int count) throws InterruptedException {
        long tuples = table.tuples();
        long starts = table.starts();
        int shift = table.slotShift();
        long buildBytes = layouts.get(JoinSide.RIGHT).tupleBytes();
        long probeBytes = layouts.get(JoinSide.LEFT).tupleBytes();
        boolean keepsMatched = kind == BulkJoinKind.SEMI;
        for (int i = 0; i < count; i++) {
            long probe = address + i * probeBytes;
            long word = Memory.getLong(probe);
            long slot = starts + 4 * (SlotHash.hash(word) >>> shift);
            int end = Memory.getInt(slot + 4);
            boolean isMatched = false;
            for (int number = Memory.getInt(slot); number < end && !isMatched; number++) {
                long tuple = tuples + number * buildBytes;
                isMatched = Memory.getLong(tuple) == word && hasEqualKey(tuple, probe);
            }
            if (isMatched == keepsMatched) {
                sink.single(JoinSide.LEFT, probe);
            }
        }
    }

    /** Probes left tuples with right ones, and removes those that match. */
    private void probeRemoving(long address, int count) throws InterruptedException {
        long tuples = table.tuples();
        long starts = table.starts();
        long ends = table.ends();
        int shift = table.slotShift();
        int buildBytes = layouts.get(JoinSide.LEFT).tupleBytes();
        long probeBytes = layouts.get(JoinSide.RIGHT).tupleBytes();
        boolean keepsMatched = kind == BulkJoinKind.SEMI;
        for (int i = 0; i < count; i++) {
            long probe = address + i * probeBytes;
            long word = Memory.getLong(probe);
            long slot = SlotHash.hash(word) >>> shift;
            int start = Memory.getInt(starts + 4 * slot);
            int end = Memory.getInt(ends + 4 * slot);
            // From the end, so that the tuple that fills a gap was compared before.
            for (int number = end - 1; number >= start; number--) {
                long tuple = tuples + (long) number * buildBytes;
                if (Memory.getLong(tuple) == word && hasEqualKey(tuple, probe)) {
                    end--;
                    swap(tuple, tuples + (long) end * buildBytes, buildBytes);
                    if (keepsMatched) {
                        sink.single(JoinSide.LEFT, tuples + (long) end * buildBytes);
                    }
                }
            }
            Memory.putInt(ends + 4 * slot, end);
        }
    }

    /** A removed tuple stays in memory until its result is flushed. */
    private static void swap(long a, long b, int bytes) {
        for (int at = 0; a != b && at < bytes; at += Long.BYTES) {
            long word = Memory.getLong(a + at);
            Memory.putLong(a + at, Memory.getLong(b + at));
            Memory.putLong(b + at, word);
        }
    }

    private void addRemaining() throws InterruptedException {
        long bytes = layouts.get(JoinSide.LEFT).tupleBytes();
        long slots = 1L << (Long.SIZE - table.slotShift());
        Blocks.forEach(
                slots,
                (from, to) -> {
                    for (long slot = from; slot < to; slot++) {
                        int end = Memory.getInt(table.ends() + 4 * slot);
                        for (int n = Memory.getInt(table.starts() + 4 * slot); n < end; n++) {
                            sink.single(JoinSide.LEFT, table.tuples() + n * bytes);
                        }
                    }
                });
    }

    // ------------------------------------------------------------------ keys

    /** Compares the keys of two tuples with the same word. */
    private boolean hasEqualKey(long build, long probe) {
        if (isExact) {
            return true;
        }
        long a = Memory.getLong(build + Long.BYTES);
        long b = Memory.getLong(probe + Long.BYTES);
        int length = Memory.getInt(a);
        return length == Memory.getInt(b) && Memory.equal(null, a + 4, null, b + 4, length);
    }
}
