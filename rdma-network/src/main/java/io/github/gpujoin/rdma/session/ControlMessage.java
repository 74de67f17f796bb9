// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingGeometry;
import java.util.Arrays;
import java.util.UUID;

/**
 * Messages between the writer and the reader of a channel on their control connection.
 *
 * <pre>
 *   writer                                                     reader
 *     Hello(job, attempt, channel, nonce)         -------&gt;
 *                                                 &lt;-------  Challenge(nonce, mac)   or Refuse
 *     Proof(mac)                                  -------&gt;
 *                                                 &lt;-------  Accept(epoch, ring, mac)  or Refuse
 *     Progress(epoch, arrived) ...                &lt;------&gt;  Progress(epoch, released, taken) ...
 *     Bye                                         &lt;------&gt;  Bye
 * </pre>
 */
public sealed interface ControlMessage {

    /** Writer: its claimed identity. */
    record Hello(UUID job, int attempt, int channel, Nonce nonce) implements ControlMessage {}

    /** Reader: authenticates and asks the writer to do so. */
    record Challenge(Nonce nonce, Mac mac) implements ControlMessage {}

    /** Writer: proves that it holds the token of its attempt. */
    record Proof(Mac mac) implements ControlMessage {}

    /**
     * Reader: the ring to write.
     *
     * @param epoch of this connection; larger than all earlier ones
     * @param releasedSequence last sequence that the writer need not send again
     * @param descriptor of the reader's target, for the transport
     */
    record Accept(
            long epoch, long releasedSequence, RingGeometry ring, Descriptor descriptor, Mac mac)
            implements ControlMessage {}

    /** Reader: refuses the writer. */
    record Refuse(Refusal reason) implements ControlMessage {}

    /**
     * Heartbeat and progress of either side.
     *
     * @param sequence from the writer: all slots up to this one have arrived; from the reader: all
     *     slots up to it are released, which is credit for as many
     * @param takenSequence from the reader: the last slot that it has copied or reads in place,
     *     whose payload it does not need from the writer again; from the writer, the sequence
     */
    record Progress(long epoch, long sequence, long takenSequence) implements ControlMessage {}

    /** Either side: ends the session without a failure. */
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

    /** Capability to write a target; {@link #toString} hides its bytes. */
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
