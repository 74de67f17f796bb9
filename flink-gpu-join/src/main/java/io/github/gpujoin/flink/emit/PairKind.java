// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinKind;

/** Kinds of joins of a build and a probe side; docs/semantics.md has the results of each. */
public enum PairKind {
    INNER,
    /** Keeps probe records without a match. */
    LEFT,
    /** Keeps build records without a match. */
    RIGHT,
    /** Keeps records of both sides without a match. */
    FULL,
    SEMI,
    ANTI;

    /** Whether each match is a result, rather than whether there is any. */
    boolean emitsPairs() {
        return this != SEMI && this != ANTI;
    }

    /** Whether a probe record without a match is a result. */
    public boolean keepsUnmatchedProbe() {
        return this == LEFT || this == FULL || this == ANTI;
    }

    /**
     * Whether a build record without a match is a result, once no probe record can come any more.
     */
    public boolean keepsUnmatchedBuild() {
        return this == RIGHT || this == FULL;
    }

    /**
     * What an engine, which knows equal keys only, is asked for.
     *
     * @param conditioned whether records with equal keys may still not match, so that all of them
     *     are needed to tell
     */
    public JoinKind withAllMatches(boolean conditioned) {
        JoinKind kind =
                switch (this) {
                    case INNER, RIGHT -> JoinKind.INNER;
                    case LEFT, FULL -> JoinKind.LEFT;
                    case SEMI -> JoinKind.SEMI;
                    case ANTI -> JoinKind.ANTI;
                };
        return conditioned ? kind.withAllMatches() : kind;
    }
}
