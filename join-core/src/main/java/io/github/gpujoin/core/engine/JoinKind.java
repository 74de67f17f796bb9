// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

/**
 * Which result rows a fact has for a dimension. A fact with a null key matches nothing.
 * docs/semantics.md defines all cases.
 */
public enum JoinKind {
    /** One row for each match, with the payload of the dimension. */
    INNER(true, false),
    /** Like {@link #INNER}, and one row without payload for a fact without a match. */
    LEFT(true, true),
    /** The fact once if it has a match, without payload. */
    SEMI(false, false),
    /** The fact once if it has no match. */
    ANTI(false, true);

    private final boolean keepsPayload;
    private final boolean keepsUnmatched;

    JoinKind(boolean keepsPayload, boolean keepsUnmatched) {
        this.keepsPayload = keepsPayload;
        this.keepsUnmatched = keepsUnmatched;
    }

    /** Whether results contain columns of the dimension. */
    public boolean keepsPayload() {
        return keepsPayload;
    }

    /** Whether a fact without a match has a result. */
    public boolean keepsUnmatched() {
        return keepsUnmatched;
    }

    /** Whether the dimension's columns are null in some results. */
    public boolean hasNullPayload() {
        return keepsPayload && keepsUnmatched;
    }

    /**
     * Returns the kind that an engine joins with if a later hash collision check or condition may
     * reject matches. The result contains all rows with equal keys.
     */
    public JoinKind withAllMatches() {
        return switch (this) {
            case INNER, SEMI -> INNER;
            case LEFT, ANTI -> LEFT;
        };
    }
}
