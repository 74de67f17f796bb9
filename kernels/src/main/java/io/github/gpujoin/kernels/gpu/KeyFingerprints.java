// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.layout.VariableWidthColumn;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Detects hash collisions among the keys of a changelog dimension. Kernels compare hashes only, so
 * a change of one key would replace the row of another key with the same hash. This index on the
 * host holds a second hash of the full key, the fingerprint, for each live row.
 *
 * <pre>
 *  hash of the key's hash:  upper 8 bits: shard   lower bits: first slot
 *  shard, linear probing:   int64 hash | int64 fingerprint, 0 if free | ...
 * </pre>
 *
 * <p>A fingerprint is the value of a polynomial over the integers modulo 2^61 - 1 at a secret point
 * (Dietzfelbinger, Gil, Matias, Pippenger: "Polynomial Hash Functions Are Reliable", ICALP 1992).
 * The coefficients are the length of the key and its words of 4 bytes. So two keys of n words have
 * equal fingerprints with a probability of at most (n + 1) / 2^61, whoever chose the keys, and only
 * that hides a collision.
 *
 * <p>A shard doubles by itself, so that a change moves at most the rows of one shard. Not
 * thread-safe.
 */
final class KeyFingerprints implements AutoCloseable {

    private static final int SHARD_BITS = 8;
    private static final int BLOCK_ROWS = 256;
    private static final int MIN_SLOTS = 64;
    private static final int SLOT_BYTES = 2 * Long.BYTES;
    private static final long FREE = 0;

    /** A Mersenne prime, for which the remainder of a product needs no division. */
    private static final long PRIME = (1L << 61) - 1;

    private static final long POINT =
            Long.remainderUnsigned(KeyHash.hash(SlotHash.seed() ^ PRIME), PRIME);

    /** Rows in open addressing. */
    private static final class Shard {
        private final Region region;
        private final long base;
        private final int slots;
        private int rows;

        Shard(Allocator host, int slots) {
            this.slots = slots;
            this.region = host.allocateZeroed((long) slots * SLOT_BYTES);
            this.base = region.address();
        }

        long address(int slot) {
            return base + (long) slot * SLOT_BYTES;
        }

        long hash(int slot) {
            return Memory.getLong(address(slot));
        }

        long fingerprint(int slot) {
            return Memory.getLong(address(slot) + Long.BYTES);
        }

        int home(long hash) {
            return (int) SlotHash.hash(hash) & slots - 1;
        }

        int next(int slot) {
            return slot + 1 & slots - 1;
        }

        /** Returns the slot of a hash, or the free slot where it would be inserted. */
        int find(long hash) {
            int slot = home(hash);
            while (fingerprint(slot) != FREE && hash(slot) != hash) {
                slot = next(slot);
            }
            return slot;
        }

        boolean isFull() {
            return rows >= slots / 4 * 3;
        }

        void put(int slot, long hash, long fingerprint) {
            rows += fingerprint(slot) == FREE ? 1 : 0;
            Memory.putLong(address(slot), hash);
            Memory.putLong(address(slot) + Long.BYTES, fingerprint);
        }

        /** Frees a slot. Later rows that would no longer be found move up. */
        void remove(int removed) {
            int free = removed;
            for (int slot = next(free); fingerprint(slot) != FREE; slot = next(slot)) {
                int home = home(hash(slot));
                if ((slot - home & slots - 1) >= (slot - free & slots - 1)) {
                    Memory.copy(null, address(slot), null, address(free), SLOT_BYTES);
                    free = slot;
                }
            }
            Memory.putLong(address(free) + Long.BYTES, FREE);
            rows--;
        }

        void copyTo(Shard larger) {
            for (int slot = 0; slot < slots; slot++) {
                if (fingerprint(slot) != FREE) {
                    larger.put(larger.find(hash(slot)), hash(slot), fingerprint(slot));
                }
            }
        }
    }

    private final DimensionSpec dimension;
    private final VariableWidthColumn fullKey;
    private final Allocator host;
    private final @Nullable Shard[] shards = new Shard[1 << SHARD_BITS];

    /** Keeps the compiler from dropping the reads of {@link #load}. */
    private long loaded;

    /**
     * @param dimension a changelog with {@linkplain DimensionSpec#isHashed hashed} keys
     */
    KeyFingerprints(DimensionSpec dimension, Allocator host) {
        this.dimension = dimension;
        this.fullKey = VariableWidthColumn.of(dimension.schema(), dimension.keyBytesColumn());
        this.host = host;
    }

    /**
     * Applies the keys of changes in order.
     *
     * @throws GpuUnavailableException with HASH_COLLISION if the hash of a change is that of the
     *     live row of another key
     */
    void apply(Chunk changes) {
        for (int first = 0; first < changes.rowCount(); first += BLOCK_ROWS) {
            int end = Math.min(changes.rowCount(), first + BLOCK_ROWS);
            load(changes, first, end);
            for (int row = first; row < end; row++) {
                apply(
                        RowChange.of(changes.getInt(dimension.changeColumn(), row)),
                        changes.getLong(dimension.keyColumn(), row),
                        fingerprint(changes.array(), fullKey.locate(changes, row)));
            }
        }
    }

    /** Reads the first slot of each hash. No read depends on another, so cache misses overlap. */
    private void load(Chunk changes, int first, int end) {
        long sum = 0;
        for (int row = first; row < end; row++) {
            long hash = changes.getLong(dimension.keyColumn(), row);
            Shard shard = shards[shardOf(hash)];
            if (shard != null) {
                sum += shard.fingerprint(shard.home(hash));
            }
        }
        loaded = sum;
    }

    private void apply(RowChange change, long hash, long fingerprint) {
        Shard shard = shard(hash);
        int slot = shard.find(hash);
        long live = shard.fingerprint(slot);
        if (live != FREE && live != fingerprint) {
            throw new GpuUnavailableException(
                    GpuFailure.HASH_COLLISION,
                    "Two keys of a changing dimension have one hash: dimension=%s, hash=%d. The CPU engine compares full keys."
                            .formatted(dimension.name(), hash));
        }
        if (change == RowChange.UPSERT) {
            shard.put(slot, hash, fingerprint);
        } else if (live != FREE) {
            shard.remove(slot);
        }
    }

    private static int shardOf(long hash) {
        return (int) (SlotHash.hash(hash) >>> Long.SIZE - SHARD_BITS);
    }

    /** Returns the shard of a hash, with room for a row. */
    private Shard shard(long hash) {
        int index = shardOf(hash);
        Shard shard = shards[index];
        if (shard == null || shard.isFull()) {
            shards[index] = new Shard(host, shard == null ? MIN_SLOTS : 2 * shard.slots);
            if (shard != null) {
                shard.copyTo(shards[index]);
                shard.region.close();
            }
        }
        return shards[index];
    }

    /** Returns the fingerprint of a key, never {@link #FREE}. */
    private static long fingerprint(byte @Nullable [] base, long key) {
        int length = Math.max(0, Memory.getInt(base, key));
        long at = key + Integer.BYTES;
        long value = length;
        int i = 0;
        for (; i + Integer.BYTES <= length; i += Integer.BYTES) {
            value = appended(value, Integer.toUnsignedLong(Memory.getInt(base, at + i)));
        }
        if (i < length) {
            long word = 0;
            for (; i < length; i++) {
                word = word << Byte.SIZE | Memory.getByte(base, at + i) & 0xFF;
            }
            value = appended(value, word);
        }
        return value + 1;
    }

    /** Returns a value times {@link #POINT} plus a coefficient, modulo {@link #PRIME}. */
    private static long appended(long value, long coefficient) {
        long low = value * POINT;
        long high = Math.multiplyHigh(value, POINT);
        long sum = (low & PRIME) + (low >>> 61 | high << 3) + coefficient;
        sum = (sum & PRIME) + (sum >>> 61);
        return sum >= PRIME ? sum - PRIME : sum;
    }

    @Override
    public void close() {
        for (int i = 0; i < shards.length; i++) {
            Shard shard = shards[i];
            if (shard != null) {
                shard.region.close();
                shards[i] = null;
            }
        }
    }
}
