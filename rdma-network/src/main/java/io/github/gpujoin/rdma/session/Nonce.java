package io.github.gpujoin.rdma.session;

import java.security.SecureRandom;

/** Number of 128 bits that is used once: it makes each handshake another one. */
public record Nonce(long high, long low) {

    static final int BYTES = 16;

    static Nonce next(SecureRandom random) {
        return new Nonce(random.nextLong(), random.nextLong());
    }
}
