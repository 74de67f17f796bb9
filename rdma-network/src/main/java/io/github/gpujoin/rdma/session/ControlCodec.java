// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.session.ControlMessage.Bye;
import io.github.gpujoin.rdma.session.ControlMessage.Challenge;
import io.github.gpujoin.rdma.session.ControlMessage.Descriptor;
import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Mac;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import io.github.gpujoin.rdma.transport.Transport;
import java.io.DataInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;

/**
 * Encodes and decodes control messages. All integers are little-endian.
 *
 * <pre>
 *  frame:      int32 length of the body | body          the length is 1 to 512
 *  body:       uint8 type | fields
 *
 *  1 Hello     int32 magic "GJS1" | uint16 version | job 16 | int32 attempt | int32 channel | nonce 16
 *  2 Challenge nonce 16 | mac 32
 *  3 Proof     mac 32
 *  4 Accept    int64 epoch | int64 releasedSequence | int32 slotCount | int32 slotBytes |
 *              uint16 length | descriptor | mac 32
 *  5 Refuse    uint8 reason
 *  6 Progress  int64 epoch | int64 sequence | int64 takenSequence
 *  7 Bye
 * </pre>
 *
 * <p>The decoder trusts no input: it checks every length against its bound and the available bytes,
 * and every number against its range. It rejects a body with excess bytes.
 */
final class ControlCodec {

    /** "GJS1". */
    static final int MAGIC = 0x31534A47;

    static final int VERSION = 2;
    static final int MAX_BODY_BYTES = 512;
    static final int LENGTH_BYTES = 4;

    private static final byte HELLO = 1;
    private static final byte CHALLENGE = 2;
    private static final byte PROOF = 3;
    private static final byte ACCEPT = 4;
    private static final byte REFUSE = 5;
    private static final byte PROGRESS = 6;
    private static final byte BYE = 7;

    private ControlCodec() {}

    /** Encodes a message as a whole frame. */
    static byte[] encode(ControlMessage message) {
        ByteBuffer out =
                ByteBuffer.allocate(LENGTH_BYTES + MAX_BODY_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.position(LENGTH_BYTES);
        if (message instanceof Hello hello) {
            out.put(HELLO).putInt(MAGIC).putShort((short) VERSION);
            out.putLong(hello.job().getMostSignificantBits());
            out.putLong(hello.job().getLeastSignificantBits());
            out.putInt(hello.attempt()).putInt(hello.channel());
            put(out, hello.nonce());
        } else if (message instanceof Challenge challenge) {
            put(out.put(CHALLENGE), challenge.nonce()).put(challenge.mac().bytes());
        } else if (message instanceof Proof proof) {
            out.put(PROOF).put(proof.mac().bytes());
        } else if (message instanceof Accept accept) {
            out.put(ACCEPT).putLong(accept.epoch()).putLong(accept.releasedSequence());
            out.putInt(accept.ring().slotCount()).putInt(accept.ring().slotBytes());
            out.putShort((short) accept.descriptor().bytes().length);
            out.put(accept.descriptor().bytes()).put(accept.mac().bytes());
        } else if (message instanceof Refuse refuse) {
            out.put(REFUSE).put(refuse.reason().code());
        } else if (message instanceof Progress progress) {
            out.put(PROGRESS).putLong(progress.epoch());
            out.putLong(progress.sequence()).putLong(progress.takenSequence());
        } else {
            out.put(BYE);
        }
        out.putInt(0, out.position() - LENGTH_BYTES);
        return Arrays.copyOf(out.array(), out.position());
    }

    /**
     * Reads a whole frame.
     *
     * @throws ProtocolException if it is malformed; the stream is unusable then
     */
    static ControlMessage read(DataInput in) throws IOException {
        int lengthBytes = Integer.reverseBytes(in.readInt());
        require(
                lengthBytes >= 1 && lengthBytes <= MAX_BODY_BYTES,
                "Control message of a wrong length: lengthBytes="
                        + lengthBytes
                        + ". Expected 1 to 512.");
        byte[] body = new byte[lengthBytes];
        in.readFully(body);
        return decode(body);
    }

    /** Decodes the body of a frame. */
    static ControlMessage decode(byte[] body) throws ProtocolException {
        ByteBuffer in = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
        need(in, 1);
        byte type = in.get();
        ControlMessage message =
                switch (type) {
                    case HELLO -> hello(in);
                    case CHALLENGE -> challenge(in);
                    case PROOF -> new Proof(mac(in));
                    case ACCEPT -> accept(in);
                    case REFUSE -> refuse(in);
                    case PROGRESS -> progress(in);
                    case BYE -> new Bye();
                    default ->
                            throw new ProtocolException(
                                    "Unknown control message: type=" + type + ". Expected 1 to 7.");
                };
        require(
                in.remaining() == 0,
                "Control message with excess bytes: excessBytes=" + in.remaining());
        return message;
    }

    private static Hello hello(ByteBuffer in) throws ProtocolException {
        need(in, 6);
        int magic = in.getInt();
        require(magic == MAGIC, "Hello does not start with GJS1: magic=" + magic);
        int version = in.getShort();
        if (version != VERSION) {
            throw new ProtocolException(
                    "Protocol versions differ: expected=" + VERSION + ", version=" + version,
                    Refusal.VERSION);
        }
        need(in, 24);
        UUID job = new UUID(in.getLong(), in.getLong());
        int attempt = in.getInt();
        require(attempt >= 0, "Negative attempt: attempt=" + attempt);
        int channel = in.getInt();
        require(channel >= 0, "Negative channel: channel=" + channel);
        return new Hello(job, attempt, channel, nonce(in));
    }

    private static Challenge challenge(ByteBuffer in) throws ProtocolException {
        return new Challenge(nonce(in), mac(in));
    }

    private static Accept accept(ByteBuffer in) throws ProtocolException {
        need(in, 26);
        long epoch = in.getLong();
        require(epoch >= 1, "Epoch is not positive: epoch=" + epoch);
        long released = in.getLong();
        require(released >= 0, "Negative sequence: releasedSequence=" + released);
        RingGeometry ring;
        try {
            ring = new RingGeometry(in.getInt(), in.getInt());
        } catch (IllegalArgumentException e) {
            throw new ProtocolException(e.getMessage());
        }
        int length = in.getShort();
        require(
                length >= 0 && length <= Transport.MAX_DESCRIPTOR_BYTES,
                "Descriptor is too long: lengthBytes=" + length + ". Maximum is 256.");
        need(in, length);
        byte[] descriptor = new byte[length];
        in.get(descriptor);
        return new Accept(epoch, released, ring, new Descriptor(descriptor), mac(in));
    }

    private static Refuse refuse(ByteBuffer in) throws ProtocolException {
        need(in, 1);
        return new Refuse(Refusal.of(in.get()));
    }

    private static Progress progress(ByteBuffer in) throws ProtocolException {
        need(in, 24);
        long epoch = in.getLong();
        long sequence = in.getLong();
        long taken = in.getLong();
        require(epoch >= 1, "Epoch is not positive: epoch=" + epoch);
        require(sequence >= 0, "Negative sequence: sequence=" + sequence);
        require(
                taken >= sequence,
                "Slot is released that was not taken: sequence="
                        + sequence
                        + ", takenSequence="
                        + taken);
        return new Progress(epoch, sequence, taken);
    }

    private static Nonce nonce(ByteBuffer in) throws ProtocolException {
        need(in, Nonce.BYTES);
        return new Nonce(in.getLong(), in.getLong());
    }

    private static Mac mac(ByteBuffer in) throws ProtocolException {
        need(in, Mac.BYTES);
        byte[] bytes = new byte[Mac.BYTES];
        in.get(bytes);
        return new Mac(bytes);
    }

    private static ByteBuffer put(ByteBuffer out, Nonce nonce) {
        return out.putLong(nonce.high()).putLong(nonce.low());
    }

    private static void need(ByteBuffer in, int lengthBytes) throws ProtocolException {
        require(
                in.remaining() >= lengthBytes,
                "Control message is truncated: neededBytes="
                        + lengthBytes
                        + ", remainingBytes="
                        + in.remaining());
    }

    private static void require(boolean holds, String message) throws ProtocolException {
        if (!holds) {
            throw new ProtocolException(message);
        }
    }
}
