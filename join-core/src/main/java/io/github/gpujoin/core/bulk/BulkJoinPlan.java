// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

/**
 * How a bulk join joins its inputs, and why. Chosen when both inputs have ended.
 *
 * @param reason a sentence for people, with the values that decided
 */
public record BulkJoinPlan(BulkAlgorithm algorithm, String reason) {

    @Override
    public String toString() {
        return algorithm.label() + ": " + reason;
    }
}
