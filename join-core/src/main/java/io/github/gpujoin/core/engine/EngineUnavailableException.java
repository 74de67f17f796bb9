package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;

/**
 * An engine cannot do what was asked; another one can. Nothing is lost: whoever feeds an engine
 * keeps what it fed. To be closed, as after any error.
 */
public class EngineUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** How far the trouble reaches. */
    public enum Scope {
        /** There is no memory for this one; those that have theirs go on. */
        NO_MEMORY,
        /** No engine of the place can be used, or can any longer. */
        PLACE
    }

    private final Scope scope;

    /**
     * @param sentence one sentence: the rule, then name=value
     */
    public EngineUnavailableException(Scope scope, String sentence, Throwable cause) {
        super(sentence, cause);
        this.scope = scope;
    }

    public static EngineUnavailableException noMemory(MemoryRefusedException e) {
        return new EngineUnavailableException(Scope.NO_MEMORY, e.getMessage(), e);
    }

    public final Scope scope() {
        return scope;
    }
}
