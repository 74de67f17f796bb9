// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * Event by which a subtask of the join announces the address of its rings and their secret to its
 * coordinator. Each attempt of the subtask has its own secret, which never leaves the coordinator.
 */
final class ReaderAddress implements OperatorEvent {

    private static final long serialVersionUID = 1L;

    private final String host;
    private final int port;
    private final byte[] secret;

    /**
     * @param secret bytes of a {@link io.github.gpujoin.rdma.session.JobSecret}
     */
    ReaderAddress(String host, int port, byte[] secret) {
        this.host = host;
        this.port = port;
        this.secret = secret.clone();
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    byte[] secret() {
        return secret.clone();
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
