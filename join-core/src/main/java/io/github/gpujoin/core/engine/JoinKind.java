package io.github.gpujoin.core.engine;

/**
 * What a fact row becomes when it meets a dimension. A fact whose key is null matches nothing;
 * docs/semantics.md has the whole table.
 */
public enum JoinKind {
    /** One row for each match, with the dimension's payload. */
    INNER(true, false),
    /** As {@link #INNER}, and where there is no match, one row without the dimension's payload. */
    LEFT(true, true),
    /** The fact row once if there is any match, without the dimension's payload. */
    SEMI(false, false),
    /** The fact row once if there is no match. */
    ANTI(false, true);

    private final boolean keepsPayload;
    private final boolean keepsUnmatched;

    JoinKind(boolean keepsPayload, boolean keepsUnmatched) {
        this.keepsPayload = keepsPayload;
        this.keepsUnmatched = keepsUnmatched;
    }

    /** Whether columns of the dimension stand in the result. */
    public boolean keepsPayload() {
        return keepsPayload;
    }

    /** Whether a fact row without a match is in the result. */
    public boolean keepsUnmatched() {
        return keepsUnmatched;
    }

    /** Whether a result row may be without a match, so that the dimension's columns are null. */
    public boolean hasNullPayload() {
        return keepsPayload && keepsUnmatched;
    }

    /**
     * What an engine is asked for where rows with equal keys may still not match, so that all of
     * them are needed to tell.
     */
    public JoinKind ofCandidates() {
        return switch (this) {
            case INNER, SEMI -> INNER;
            case LEFT, ANTI -> LEFT;
        };
    }
}
