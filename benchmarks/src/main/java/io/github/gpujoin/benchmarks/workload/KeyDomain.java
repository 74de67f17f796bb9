// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

/** Which numbers the build keys are. */
public enum KeyDomain {
    /** 0 to n - 1: the usual workload of join papers, and friendly to direct-address tables. */
    DENSE {
        @Override
        long key(long id) {
            return id;
        }
    },
    /** Spread over 27 bits, for at most 2^27 build tuples. */
    BITS_27 {
        @Override
        long key(long id) {
            return id * 0x5851F42DL & (1L << 27) - 1; // a bijection, as the factor is odd
        }
    },
    /** Spread over all 64 bits. */
    SPARSE {
        @Override
        long key(long id) {
            return mix(id);
        }
    };

    /** The key of build tuple {@code id}; ids that differ give keys that differ. */
    abstract long key(long id);

    /** The 64-bit finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014); a bijection. */
    public static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
