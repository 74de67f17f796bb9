package io.github.gpujoin.core.engine;

/** What a fact row becomes when it meets a dimension. */
public enum JoinKind {
    /** One row for each match, with the dimension's payload. */
    INNER(true),
    /** The fact row once if there is any match, without the dimension's payload. */
    SEMI(false);

    private final boolean keepsPayload;

    JoinKind(boolean keepsPayload) {
        this.keepsPayload = keepsPayload;
    }

    /** Whether columns of the dimension stand in the result. */
    public boolean keepsPayload() {
        return keepsPayload;
    }
}
