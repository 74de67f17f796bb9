package io.github.gpujoin.rdma.transport;

/**
 * Writes from one source into one target. For one thread at a time.
 *
 * <p>What every one-sided transport keeps:
 *
 * <ul>
 *   <li>An aligned write of 8 bytes is atomic: the reader sees the old word or the new one.
 *   <li>Bytes of one longer write may appear in any order.
 *   <li>Writes after a {@link #flush} appear after all writes before it, to a reader that loads the
 *       later bytes with acquire order.
 *   <li>Nothing lands outside of the target, whatever offsets a caller gives.
 * </ul>
 *
 * <p>An error is terminal: after the first {@link TransportException} every call throws one, and
 * the caller closes the connection and makes another, on a new target (a new epoch). Nothing is
 * known then of the writes that were under way.
 */
public interface Connection extends AutoCloseable {

    /**
     * Starts to copy bytes of the source to the target. The source bytes must stay as they are
     * until the peer has said that it read them.
     *
     * @return false where as many writes are under way as the transport holds, or a flush is:
     *     nothing was started, and the caller goes on to {@link #poll} and comes again
     * @param lengthBytes at least 1
     * @throws IllegalArgumentException where an extent is outside of source or target
     */
    boolean write(long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
            throws TransportException;

    /** Whether the peer's side was reached; until then {@link #write} starts nothing. */
    boolean isConnected();

    /**
     * Orders the writes before it ahead of those after it. Never waits: where the transport does
     * not keep order by itself, {@link #write} starts nothing until all writes before have arrived.
     */
    void flush() throws TransportException;

    /**
     * Takes note of finished writes, which makes room for more, and of failures. Never blocks.
     *
     * @throws TransportException where the connection is broken
     */
    void poll() throws TransportException;

    /**
     * Whether the last {@link #poll} found no write and no flush under way: what was written before
     * the last flush has arrived, and nothing of what was written since waits at this end.
     */
    boolean isIdle();

    /** Gives up what is under way. Legal in any state, and twice. */
    @Override
    void close();

    /**
     * @throws IllegalArgumentException where an extent is outside of source or target, or empty
     */
    static void requireExtent(
            String memory, long offsetBytes, int lengthBytes, long memoryLengthBytes) {
        if (offsetBytes < 0 || lengthBytes < 1 || offsetBytes > memoryLengthBytes - lengthBytes) {
            throw new IllegalArgumentException(
                    "a write lies within source and target: "
                            + memory
                            + "="
                            + memoryLengthBytes
                            + " bytes, offsetBytes="
                            + offsetBytes
                            + ", lengthBytes="
                            + lengthBytes);
        }
    }
}
