package io.github.gpujoin.core.layout;

/** Bytes that claim to be a chunk and break a rule of its layout; the message states the rule. */
public final class ChunkFormatException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ChunkFormatException(String message) {
        super(message);
    }
}
