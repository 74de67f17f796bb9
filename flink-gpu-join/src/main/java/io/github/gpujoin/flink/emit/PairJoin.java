package io.github.gpujoin.flink.emit;

import java.io.Serializable;
import org.apache.flink.api.common.functions.JoinFunction;

/**
 * What is made of two sides' records. Travels with the job.
 *
 * @param condition that records with equal keys must meet to match; null for none
 * @param function called for each result; a record that there is not is null
 */
public record PairJoin<A, B, OUT>(
        PairKind kind, JoinFunction<A, B, Boolean> condition, JoinFunction<A, B, OUT> function)
        implements Serializable {

    /** Whether equal keys are not all that counts, so that matches are told after the engine. */
    boolean isVerified() {
        return condition != null || kind.keepsUnmatchedBuild();
    }
}
