// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.runtime.PlannedJoin;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prefix of the uids of a join's operators.
 *
 * @param ofTables whether the result is a table. Flink runs a table as a separate job, which leaves
 *     the join in the environment.
 */
public record JoinUid(String text, boolean ofTables) {

    private static final Logger LOG = LoggerFactory.getLogger(JoinUid.class);

    /** Rejects a uid that names nothing. */
    public JoinUid {
        if (text.isBlank()) {
            throw new IllegalArgumentException(
                    "Blank uid: '%s'. Name the join with .uid(...), or omit the call."
                            .formatted(text));
        }
    }

    /**
     * Returns the uid of a join of streams.
     *
     * @throws IllegalArgumentException if it is blank
     */
    public static JoinUid of(String text) {
        return new JoinUid(text, false);
    }

    /** Returns the same uid for a join of tables. */
    public JoinUid ofTable() {
        return new JoinUid(text, true);
    }

    /** Returns the uid of an operator of the join. */
    String operator(String part) {
        return text + "-" + part;
    }

    /**
     * Checks that no other join of the environment's next job has the uid. Flink would report a
     * hash collision at submission. Joins of tables may run in different jobs, so this method only
     * logs a warning for them.
     *
     * @throws IllegalArgumentException if another join of streams has the uid
     */
    void requireUnused(StreamExecutionEnvironment env) {
        boolean used =
                env.getTransformations().stream()
                        .filter(each -> PlannedJoin.of(each).isPresent())
                        .anyMatch(each -> operator("join").equals(each.getUid()));
        if (used && !ofTables) {
            throw new IllegalArgumentException(
                    "Two joins of the job have the uid '%s'. Give each its own with .uid(...)."
                            .formatted(text));
        }
        if (used) {
            LOG.warn(
                    "Two joins of the environment have the uid '{}'. Give each its own with .uid(...),"
                            + " or run them in different jobs.",
                    text);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
