package io.github.gpujoin.kernels.binding;

/**
 * The GPU cannot do what was asked; another engine can. Nothing is lost: whoever feeds an engine
 * keeps what it fed.
 */
public final class GpuUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final GpuFailure failure;

    /**
     * @param sentence one sentence: the rule, then name=value
     */
    public GpuUnavailableException(GpuFailure failure, String sentence) {
        this(failure, sentence, null);
    }

    public GpuUnavailableException(GpuFailure failure, String sentence, Throwable cause) {
        super(sentence, cause);
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
