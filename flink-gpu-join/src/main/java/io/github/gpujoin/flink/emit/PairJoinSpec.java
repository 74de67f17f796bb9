// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.io.Serializable;
import org.apache.flink.api.common.functions.JoinFunction;
import org.jspecify.annotations.Nullable;

/**
 * How two sides' records become results. Serialized with the job.
 *
 * @param keys full keys to compare after hash equality; null if equal integers are equal keys
 * @param condition that records with equal keys must meet to match; null for none
 * @param function called for each result, with null for a record without a match
 */
public record PairJoinSpec<A, B, OUT>(
        PairKind kind,
        @Nullable HashedKeys<A, B> keys,
        @Nullable JoinFunction<A, B, Boolean> condition,
        JoinFunction<A, B, OUT> function)
        implements Serializable {

    /**
     * Whether equal integers are not all that counts, so that matches are told after the engine.
     */
    public boolean isVerified() {
        return keys != null || condition != null || kind.keepsUnmatchedBuild();
    }
}
