package io.github.gpujoin.core.layout;

import java.security.SecureRandom;

/**
 * Hash that places keys in the slots of tables, on the CPU and on a GPU. It has secret numbers that
 * each process draws, so that nobody can choose keys that share a slot. Nothing that is sent or
 * stored depends on it; partitions do on {@link KeyHash}.
 *
 * <pre>
 *   h = key ^ SEED;   h ^= h >>> 32;   h *= FACTOR;       a bijection
 *   h ^= h >>> 32;    h *= MULTIPLIER;                    multiply-shift: the upper half is cut
 *   h ^= h >>> 32                                         for users of the lower half
 * </pre>
 *
 * <p>Two given keys share one of n slots with a probability of about 2 / n at most, whatever they
 * are, since the multiplier is a random odd number (Dietzfelbinger, Hagerup, Katajainen, Penttonen:
 * "A Reliable Randomized Algorithm for the Closest-Pair Problem", J. Algorithms 25, 1997).
 */
public final class SlotHash {

    /**
     * System property that sets the secret numbers, for runs that must repeat exactly. Anybody who
     * knows it can choose keys that make tables slow.
     */
    public static final String SEED_PROPERTY = "gpu-join.slot-hash-seed";

    private static final long FACTOR = 0xD6E8FEB86659FD93L;
    private static final long PROCESS_SEED =
            Long.getLong(SEED_PROPERTY, new SecureRandom().nextLong());

    /** Constants of the process, which the JIT compiler folds into the code of the loops. */
    public static final long SEED = KeyHash.hash(PROCESS_SEED);

    /** Odd. */
    public static final long MULTIPLIER = KeyHash.hash(PROCESS_SEED + FACTOR) | 1;

    private SlotHash() {}

    /**
     * What {@value #SEED_PROPERTY} has to be for another process to repeat the hashes of this one.
     */
    public static long seed() {
        return PROCESS_SEED;
    }

    public static long hash(long key) {
        return hash(key, SEED, MULTIPLIER);
    }

    /**
     * The hash with given secret numbers.
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

    /** Slot from 0 to {@code slots - 1} of a table with up to 2^31 slots. */
    public static int slot(long hash, int slots) {
        return (int) (((hash >>> 32) * slots) >>> 32);
    }
}
