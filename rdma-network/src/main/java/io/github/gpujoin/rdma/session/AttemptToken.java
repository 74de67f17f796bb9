// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.session.ControlMessage.Challenge;
import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Mac;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import java.security.MessageDigest;

/**
 * Key of one execution attempt, with which both sides of a handshake authenticate.
 *
 * <p>Every authentication code covers the hello and both nonces. A recorded code is therefore
 * invalid in any other handshake, and one side's code never equals the other's.
 */
public final class AttemptToken {

    private static final Mac NONE = new Mac(new byte[Mac.BYTES]);

    private final byte[] key;

    /**
     * @param key 32 bytes, as {@link JobSecret#token} derives them
     */
    public AttemptToken(byte[] key) {
        if (key.length != JobSecret.BYTES) {
            throw new IllegalArgumentException(
                    "Token of a wrong length: lengthBytes=" + key.length + ". Expected 32.");
        }
        this.key = key.clone();
    }

    public byte[] bytes() {
        return key.clone();
    }

    Challenge challenge(Hello hello, Nonce nonce) {
        return new Challenge(nonce, readerMac(hello, nonce));
    }

    boolean isChallengeValid(Hello hello, Challenge challenge) {
        return same(readerMac(hello, challenge.nonce()), challenge.mac());
    }

    Proof proof(Hello hello, Nonce readerNonce) {
        return new Proof(writerMac(hello, readerNonce));
    }

    boolean isProofValid(Hello hello, Nonce readerNonce, Proof proof) {
        return same(writerMac(hello, readerNonce), proof.mac());
    }

    Accept sign(Hello hello, Nonce readerNonce, Accept accept) {
        return withMac(accept, acceptMac(hello, readerNonce, accept));
    }

    boolean isAcceptValid(Hello hello, Nonce readerNonce, Accept accept) {
        return same(acceptMac(hello, readerNonce, accept), accept.mac());
    }

    private Mac readerMac(Hello hello, Nonce readerNonce) {
        return mac("reader", hello, new Challenge(readerNonce, NONE));
    }

    private Mac writerMac(Hello hello, Nonce readerNonce) {
        return mac("writer", hello, new Challenge(readerNonce, NONE));
    }

    private Mac acceptMac(Hello hello, Nonce readerNonce, Accept accept) {
        byte[] bare = ControlCodec.encode(withMac(accept, NONE));
        byte[] nonce = ControlCodec.encode(new Challenge(readerNonce, NONE));
        return new Mac(Hmac.of(key, "accept", ControlCodec.encode(hello), nonce, bare));
    }

    private Mac mac(String purpose, ControlMessage first, ControlMessage second) {
        return new Mac(
                Hmac.of(key, purpose, ControlCodec.encode(first), ControlCodec.encode(second)));
    }

    private static Accept withMac(Accept accept, Mac mac) {
        return new Accept(
                accept.epoch(), accept.releasedSequence(), accept.ring(), accept.descriptor(), mac);
    }

    /** Compares in constant time. */
    private static boolean same(Mac expected, Mac actual) {
        return MessageDigest.isEqual(expected.bytes(), actual.bytes());
    }

    @Override
    public String toString() {
        return "AttemptToken";
    }
}
