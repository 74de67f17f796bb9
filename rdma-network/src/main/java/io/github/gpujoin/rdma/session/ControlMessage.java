package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingGeometry;
import java.util.Arrays;
import java.util.UUID;

/**
 * What writer and reader of a channel say to each other on their control connection.
 *
 * <pre>
 *   writer                                                     reader
 *     Hello(job, attempt, channel, nonce)         -------&gt;
 *                                                 &lt;-------  Challenge(nonce, mac)   or Refuse
 *     Proof(mac)                                  -------&gt;
 *                                                 &lt;-------  Accept(epoch, ring, mac)  or Refuse
 *     Progress(epoch, written) ...                &lt;------&gt;  Progress(epoch, released) ...
 *     Bye                                         &lt;------&gt;  Bye
 * </pre>
 */
public sealed interface ControlMessage {

    /** Writer: who it says it is. */
    record Hello(UUID job, int attempt, int channel, Nonce nonce) implements ControlMessage {}

    /** Reader: proves itself, and asks for the same. */
    record Challenge(Nonce nonce, Mac mac) implements ControlMessage {}

    /** Writer: proves that it holds its attempt's token. */
    record Proof(Mac mac) implements ControlMessage {}

    /**
     * Reader: where to write.
     *
     * @param epoch of this connection; larger than all before it
     * @param releasedSequence the last sequence that need not be written again
     * @param descriptor of the reader's target, for {@code Transport.connect}
     */
    record Accept(
            long epoch, long releasedSequence, RingGeometry ring, Descriptor descriptor, Mac mac)
            implements ControlMessage {}

    /** Reader: turns the writer away. */
    record Refuse(Refusal reason) implements ControlMessage {}

    /**
     * Sign of life of either side, and how far it is: the writer has written all up to this
     * sequence; the reader has released all up to it, which is credit for as many slots.
     */
    record Progress(long epoch, long sequence) implements ControlMessage {}

    /** Either side: ends the session in order. */
    record Bye() implements ControlMessage {}

    /** Authentication code of 32 bytes. */
    record Mac(byte[] bytes) {

        static final int BYTES = 32;

        @Override
        public boolean equals(Object other) {
            return other instanceof Mac mac && Arrays.equals(bytes, mac.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return "Mac";
        }
    }

    /** Capability to write into a target; it is not printed. */
    record Descriptor(byte[] bytes) {

        @Override
        public boolean equals(Object other) {
            return other instanceof Descriptor descriptor && Arrays.equals(bytes, descriptor.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return "Descriptor[" + bytes.length + " bytes]";
        }
    }
}
