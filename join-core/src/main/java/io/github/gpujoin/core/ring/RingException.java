package io.github.gpujoin.core.ring;

/** The other end of a ring broke its rules; the ring cannot be used any further. */
public final class RingException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public RingException(String message) {
        super(message);
    }
}
