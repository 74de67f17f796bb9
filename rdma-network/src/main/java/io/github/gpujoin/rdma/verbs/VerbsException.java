package io.github.gpujoin.rdma.verbs;

import java.io.IOException;

/** Verbs could not do what was asked. The message says what to do, where something can be done. */
public final class VerbsException extends IOException {

    private static final long serialVersionUID = 1L;

    private final VerbsFailure failure;

    /**
     * @param sentence one sentence: the rule, then name=value
     */
    public VerbsException(VerbsFailure failure, String sentence) {
        this(failure, sentence, null);
    }

    public VerbsException(VerbsFailure failure, String sentence, Throwable cause) {
        super(sentence, cause);
        this.failure = failure;
    }

    public VerbsFailure failure() {
        return failure;
    }

    @Override
    public String getMessage() {
        return super.getMessage() + " (" + failure + ")";
    }
}
