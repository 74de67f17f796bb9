// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An extendible hash table (Fagin, Nievergelt, Pippenger, Strong: "Extendible Hashing", ACM TODS 4,
 * 1979) of slots of fixed size: the upper bits of a hash select a segment, the lower ones a slot in
 * it, with linear probing. Growth copies one segment at a time, so no insertion waits for the whole
 * table. Not thread-safe.
 *
 * <pre>
 *  upper bits of the hash:   00  01  10  11
 *  segments of 16384 slots:   A   B   +-C-+      C was not split yet
 * </pre>
 *
 * <p>An address of a slot is valid until the next call of {@link #makeRoom} or {@link #remove}.
 */
abstract class SegmentedIndex implements AutoCloseable {

    /** Slots that fit a second-level cache while a segment splits. */
    private static final int SEGMENT_SLOTS = 1 << 14;

    private static final int MIN_SLOTS = 64;
    private static final int MAX_DEPTH = 17;

    private static final class Segment {

        private final Region region;
        private final long base;
        private final int depth;
        private int used;

        private Segment(Region region, int depth) {
            this.region = region;
            this.base = region.address();
            this.depth = depth;
        }
    }

    private final Allocator allocator;
    private final int slotBytes;
    private Segment[] directory;
    private long[] bases;
    private int depth;
    private int slotMask = MIN_SLOTS - 1;

    /** Memory of the segment that was split last, for the next split; null if there is none. */
    private @Nullable Region spare;

    SegmentedIndex(Allocator allocator, int slotBytes) {
        this.allocator = allocator;
        this.slotBytes = slotBytes;
        Segment first = allocate(0);
        this.directory = new Segment[] {first};
        this.bases = new long[] {first.base};
    }

    abstract boolean isOccupied(long slot);

    abstract int hash(long slot);

    // ------------------------------------------------------------------ slots

    private int entry(int hash) {
        return (int) ((hash & 0xFFFF_FFFFL) >>> Integer.SIZE - depth);
    }

    /** Returns the address of the first slot of the segment of a hash. */
    final long base(int hash) {
        return bases[entry(hash)];
    }

    /** Returns the number of slots of a segment, less 1. */
    final int slotMask() {
        return slotMask;
    }

    /** Counts a slot that the caller has filled. */
    final void added(int hash) {
        directory[entry(hash)].used++;
    }

    /** Whether {@link #makeRoom} must be called before a slot is filled. */
    final boolean isFull(int hash) {
        return directory[entry(hash)].used > slotMask - (slotMask >> 2) - (slotMask >> 3);
    }

    final void makeRoomIfFull(int hash) {
        if (isFull(hash)) {
            makeRoom(hash);
        }
    }

    /** Visits the occupied slots. They may be changed, but neither filled nor emptied. */
    final void forEach(LongConsumer visitor) {
        Segment last = null;
        for (Segment segment : directory) {
            if (segment != last) {
                for (int i = 0; i <= slotMask; i++) {
                    long slot = segment.base + (long) i * slotBytes;
                    if (isOccupied(slot)) {
                        visitor.accept(slot);
                    }
                }
            }
            last = segment;
        }
    }

    /**
     * Empties a slot. Later slots that would no longer be found move up (Knuth, The Art of Computer
     * Programming, volume 3, section 6.4, algorithm R).
     */
    final void remove(int hash, long slot) {
        Segment segment = directory[entry(hash)];
        int free = (int) ((slot - segment.base) / slotBytes);
        int next = free;
        while (true) {
            next = next + 1 & slotMask;
            long from = segment.base + (long) next * slotBytes;
            if (!isOccupied(from)) {
                break;
            }
            int home = hash(from) & slotMask;
            if ((next - home & slotMask) >= (next - free & slotMask)) {
                copySlot(from, segment.base + (long) free * slotBytes);
                free = next;
            }
        }
        Memory.fill(null, segment.base + (long) free * slotBytes, slotBytes, (byte) 0);
        segment.used--;
    }

    // ------------------------------------------------------------------ growth

    private Segment allocate(int depth) {
        long bytes = (long) (slotMask + 1) * slotBytes;
        Region region = spare;
        if (region != null && region.lengthBytes() == bytes) {
            spare = null;
        } else {
            region = allocator.allocate(bytes);
        }
        Memory.fill(null, region.address(), bytes, (byte) 0);
        return new Segment(region, depth);
    }

    private void retire(Segment segment) {
        if (spare != null) {
            spare.close();
        }
        spare = segment.region;
    }

    /** Splits the segment of a hash. */
    final void makeRoom(int hash) {
        if (slotMask + 1 < SEGMENT_SLOTS) {
            grow();
            return;
        }
        Segment full = directory[entry(hash)];
        if (full.depth == MAX_DEPTH) {
            throw new IllegalStateException(
                    "Too many keys in a subtask: segments=%d. Raise the parallelism."
                            .formatted(directory.length));
        }
        if (full.depth == depth) {
            doubleDirectory();
        }
        Segment zero = allocate(full.depth + 1);
        Segment one;
        try {
            one = allocate(full.depth + 1);
        } catch (Throwable e) {
            retire(zero);
            throw e;
        }
        int bit = Integer.MIN_VALUE >>> full.depth;
        copy(full, zero, one, bit);
        int entries = 1 << depth - full.depth;
        int first = entry(hash) & -entries;
        enter(zero, first, first + entries / 2);
        enter(one, first + entries / 2, first + entries);
        retire(full);
    }

    private void grow() {
        Segment old = directory[0];
        int oldMask = slotMask;
        slotMask = 2 * slotMask + 1;
        Segment grown;
        try {
            grown = allocate(0);
        } catch (Throwable e) {
            slotMask = oldMask;
            throw e;
        }
        copy(old, oldMask, grown, grown, 0);
        enter(grown, 0, 1);
        retire(old);
    }

    private void copy(Segment from, Segment zero, Segment one, int bit) {
        copy(from, slotMask, zero, one, bit);
    }

    private void copy(Segment from, int fromMask, Segment zero, Segment one, int bit) {
        for (int i = 0; i <= fromMask; i++) {
            long slot = from.base + (long) i * slotBytes;
            if (isOccupied(slot)) {
                int hash = hash(slot);
                Segment target = (hash & bit) == 0 ? zero : one;
                int free = hash & slotMask;
                while (isOccupied(target.base + (long) free * slotBytes)) {
                    free = free + 1 & slotMask;
                }
                copySlot(slot, target.base + (long) free * slotBytes);
                target.used++;
            }
        }
    }

    private void copySlot(long from, long to) {
        for (int at = 0; at < slotBytes; at += Long.BYTES) {
            Memory.putLong(to + at, Memory.getLong(from + at));
        }
    }

    private void doubleDirectory() {
        Segment[] doubled = new Segment[2 * directory.length];
        long[] doubledBases = new long[doubled.length];
        for (int i = 0; i < doubled.length; i++) {
            doubled[i] = directory[i / 2];
            doubledBases[i] = bases[i / 2];
        }
        directory = doubled;
        bases = doubledBases;
        depth++;
    }

    private void enter(Segment segment, int from, int to) {
        Arrays.fill(directory, from, to, segment);
        Arrays.fill(bases, from, to, segment.base);
    }

    @Override
    public final void close() {
        Set<Segment> all = Collections.newSetFromMap(new IdentityHashMap<>());
        all.addAll(Arrays.asList(directory));
        Closing.all(all, segment -> segment.region.close());
        if (spare != null) {
            spare.close();
            spare = null;
        }
    }
}
