// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.io.Serializable;
import org.apache.flink.api.common.functions.JoinFunction;

/**
 * What is made of two sides' records. Travels with the job.
 *
 * @param keys to be compared again; null where equal integers are equal keys
 * @param condition that records with equal keys must meet to match; null for none
 * @param function called for each result; a record that there is not is null
 */
public record PairJoinSpec<A, B, OUT>(
        PairKind kind,
        HashedKeys<A, B> keys,
        JoinFunction<A, B, Boolean> condition,
        JoinFunction<A, B, OUT> function)
        implements Serializable {

    /**
     * Whether equal integers are not all that counts, so that matches are told after the engine.
     */
    public boolean isVerified() {
        return keys != null || condition != null || kind.keepsUnmatchedBuild();
    }
}
