package io.github.gpujoin.kernels.binding;

import io.github.gpujoin.core.engine.EngineUnavailableException;

/**
 * The GPU cannot do what was asked; another engine can. Nothing is lost: whoever feeds an engine
 * keeps what it fed.
 */
public final class GpuUnavailableException extends EngineUnavailableException {

    private static final long serialVersionUID = 1L;

    private final GpuFailure failure;

    /**
     * @param sentence one sentence: the rule, then name=value
     */
    public GpuUnavailableException(GpuFailure failure, String sentence) {
        this(failure, sentence, null);
    }

    public GpuUnavailableException(GpuFailure failure, String sentence, Throwable cause) {
        super(
                failure == GpuFailure.OUT_OF_DEVICE_MEMORY ? Scope.NO_MEMORY : Scope.PLACE,
                sentence,
                cause);
        this.failure = failure;
    }

    /** The same refusal for another caller, with a stack trace of its own. */
    GpuUnavailableException again() {
        return new GpuUnavailableException(failure, super.getMessage(), this);
    }

    public GpuFailure failure() {
        return failure;
    }

    @Override
    public String getMessage() {
        return super.getMessage() + " (" + failure + ")";
    }
}
