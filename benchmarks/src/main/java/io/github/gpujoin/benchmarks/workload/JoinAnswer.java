// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

/**
 * What a join of the tuples says: the number of result rows, and the sum of all their build and
 * probe payloads.
 */
public record JoinAnswer(long count, long checksum) {

    public static final JoinAnswer NOTHING = new JoinAnswer(0, 0);

    public JoinAnswer plus(JoinAnswer other) {
        return new JoinAnswer(count + other.count, checksum + other.checksum);
    }
}
