package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Maps radix partition p to an integer key whose key group is p, so that a stream keyed by that
 * integer sends partition p to the owner of key group p, and keyed state rescales with partitions.
 * Immutable.
 */
public final class KeyGroupTable implements Serializable {

    private static final long serialVersionUID = 1L;

    private final int[] keys;

    private KeyGroupTable(int[] keys) {
        this.keys = keys;
    }

    /**
     * Finds the smallest such key for each partition (636 candidates for 128 partitions, 31,736 for
     * 4096).
     *
     * @param partitions number of partitions and of key groups alike, at least 1
     * @param keyGroupOf the engine's own assignment of an integer key to a key group
     */
    public static KeyGroupTable of(int partitions, IntUnaryOperator keyGroupOf) {
        if (partitions < 1) {
            throw new IllegalArgumentException(
                    "there is at least one partition: partitions=" + partitions);
        }
        int[] keys = new int[partitions];
        Arrays.fill(keys, -1);
        int missing = partitions;
        for (int candidate = 0; missing > 0; candidate++) {
            if (candidate < 0) {
                throw new IllegalStateException(
                        "every key group has a key: partitionsWithout=" + missing);
            }
            int group = keyGroupOf.applyAsInt(candidate);
            if (group < 0 || group >= partitions) {
                throw new IllegalArgumentException(
                        "there are as many key groups as partitions: keyGroup="
                                + group
                                + ", partitions="
                                + partitions);
            }
            if (keys[group] < 0) {
                keys[group] = candidate;
                missing--;
            }
        }
        return new KeyGroupTable(keys);
    }

    public int partitions() {
        return keys.length;
    }

    /** The key that stands for the partition. */
    public int keyOf(int partition) {
        return keys[partition];
    }
}
