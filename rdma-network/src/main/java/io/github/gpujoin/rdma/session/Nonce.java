// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.security.SecureRandom;

/** A random number of 128 bits that is used once, so that no handshake can be replayed. */
public record Nonce(long high, long low) {

    static final int BYTES = 16;

    static Nonce next(SecureRandom random) {
        return new Nonce(random.nextLong(), random.nextLong());
    }
}
