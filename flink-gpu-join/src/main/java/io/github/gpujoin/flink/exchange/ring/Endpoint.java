// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.JobSecret;
import java.io.Serializable;
import java.util.UUID;

/**
 * Server of one or more rings, and what opens them.
 *
 * @param host of the reader
 * @param key bytes of a {@link JobSecret} in the coordinator, of an {@link
 *     io.github.gpujoin.rdma.session.AttemptToken} for a writer
 */
record Endpoint(String host, int port, byte[] key) implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Returns the endpoint for one attempt of a writer, with a token in place of the secret. */
    Endpoint forAttempt(UUID job, int attempt) {
        return new Endpoint(host, port, new JobSecret(key).token(job, attempt).bytes());
    }

    /** Whether both are the same server, whatever opens its rings. */
    boolean isServerOf(Endpoint other) {
        return port == other.port && host.equals(other.host);
    }

    @Override
    public String toString() {
        return host + ":" + port; // Omits the key, which is a secret.
    }
}
