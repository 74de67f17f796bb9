package io.github.gpujoin.rdma.session;

import java.io.IOException;

/**
 * Control connection between a writer and a reader: ordered and lossless until it breaks.
 *
 * <p>{@link #send} and {@link #receive} are for one thread at a time; closing is for any.
 */
public interface ControlLink extends AutoCloseable {

    void send(ControlMessage message) throws IOException;

    /**
     * Never blocks.
     *
     * @return null where nothing has come yet
     * @throws IOException where the peer closed the link, it broke, or what came is malformed; what
     *     had come before is received first
     */
    ControlMessage receive() throws IOException;

    /**
     * Lifts what bounds an accepted link before its writer has proved itself: it takes two messages
     * until then.
     */
    default void admit() {}

    /** The other end, for messages. */
    String peer();

    @Override
    void close();

    /** Makes control connections to a reader. */
    @FunctionalInterface
    interface Dialer {

        /** Never blocks: whether the reader is reached shows in what is received. */
        ControlLink dial() throws IOException;
    }
}
