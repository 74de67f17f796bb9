// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Maps radix partition p to an integer key whose Flink key group is p. Immutable.
 *
 * <p>A stream keyed by this integer sends partition p to the owner of key group p, so that keyed
 * state is rescaled with its partitions.
 */
public final class KeyGroupTable implements Serializable {

    private static final long serialVersionUID = 1L;

    private final int[] keys;

    private KeyGroupTable(int[] keys) {
        this.keys = keys;
    }

    /**
     * Finds the smallest such key for each partition. It tries 636 keys for 128 partitions, 31,736
     * for 4096.
     *
     * @param partitions number of partitions and of key groups, at least 1
     * @param keyGroupOf Flink's assignment of an integer key to a key group
     */
    public static KeyGroupTable of(int partitions, IntUnaryOperator keyGroupOf) {
        if (partitions < 1) {
            throw new IllegalArgumentException(
                    "Number of partitions is not positive: partitions=" + partitions);
        }
        int[] keys = new int[partitions];
        Arrays.fill(keys, -1);
        int missing = partitions;
        for (int candidate = 0; missing > 0; candidate++) {
            if (candidate < 0) {
                throw new IllegalStateException(
                        "No integer key maps to some key groups: partitionsWithout=" + missing);
            }
            int group = keyGroupOf.applyAsInt(candidate);
            if (group < 0 || group >= partitions) {
                throw new IllegalArgumentException(
                        "Key group is not one of the partitions: keyGroup="
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

    /** Returns the integer key of the partition. */
    public int keyOf(int partition) {
        return keys[partition];
    }
}
