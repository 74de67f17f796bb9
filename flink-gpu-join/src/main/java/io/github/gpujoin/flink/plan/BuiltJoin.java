// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import org.jspecify.annotations.Nullable;

/**
 * Rejects changes of a join's description after the join was built, since they would not reach the
 * job. Not thread-safe.
 */
public final class BuiltJoin {

    private @Nullable JoinUid builtAs;

    /** Marks the join as built. */
    public void mark(JoinUid uid) {
        builtAs = uid;
    }

    /**
     * @param method the method that changes the description
     * @throws IllegalStateException if the join was built
     */
    public void requireNotBuilt(String method) {
        if (builtAs != null) {
            throw new IllegalStateException(
                    "Join '%s' was changed after it was built, by .%s(...). Call .%s(...) before the method that returns the results."
                            .formatted(builtAs.text(), method, method));
        }
    }
}
