// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import java.security.SecureRandom;

/**
 * Hash that places keys in the slots of tables, on the CPU and on a GPU. Each process draws secret
 * random constants for it, so that an attacker cannot choose keys that share a slot. Nothing that
 * is sent or stored depends on it: partitions use {@link KeyHash}.
 *
 * <pre>
 *   h = key ^ SEED;   h ^= h >>> 32;   h *= FACTOR;       a bijection
 *   h ^= h >>> 32;    h *= MULTIPLIER;                    multiply-shift: the upper half is cut
 *   h ^= h >>> 32                                         for users of the lower half
 * </pre>
 *
 * <p>The multiplier is a random odd number, so any two keys share one of n slots with a probability
 * of at most about 2 / n (Dietzfelbinger, Hagerup, Katajainen, Penttonen: "A Reliable Randomized
 * Algorithm for the Closest-Pair Problem", J. Algorithms 25, 1997).
 */
public final class SlotHash {

    /**
     * System property that sets the seed of the constants, for runs that must repeat exactly.
     * Whoever knows the seed can choose keys that make tables slow.
     */
    public static final String SEED_PROPERTY = "gpu-join.slot-hash-seed";

    private static final long FACTOR = 0xD6E8FEB86659FD93L;
    private static final long PROCESS_SEED =
            Long.getLong(SEED_PROPERTY, new SecureRandom().nextLong());

    /** First constant of the process. It is final so that the JIT compiler folds it into loops. */
    public static final long SEED = KeyHash.hash(PROCESS_SEED);

    /** Second constant of the process; odd. */
    public static final long MULTIPLIER = KeyHash.hash(PROCESS_SEED + FACTOR) | 1;

    private SlotHash() {}

    /**
     * Returns the value of {@value #SEED_PROPERTY} with which another process repeats the hashes of
     * this one.
     */
    public static long seed() {
        return PROCESS_SEED;
    }

    public static long hash(long key) {
        return hash(key, SEED, MULTIPLIER);
    }

    /**
     * Returns the hash with given constants.
     *
     * @param multiplier odd
     */
    public static long hash(long key, long seed, long multiplier) {
        long h = key ^ seed;
        h ^= h >>> 32;
        h *= FACTOR;
        h ^= h >>> 32;
        h *= multiplier;
        h ^= h >>> 32;
        return h;
    }

    /** Returns a slot from 0 to {@code slots - 1} of a table with up to 2^31 slots. */
    public static int slot(long hash, int slots) {
        return (int) (((hash >>> 32) * slots) >>> 32);
    }
}
