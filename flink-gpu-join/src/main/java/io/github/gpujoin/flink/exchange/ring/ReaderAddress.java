package io.github.gpujoin.flink.exchange.ring;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * A subtask of the join to its coordinator: where its rings are opened, and the secret that opens
 * them. The secret is of one attempt of the subtask; it goes no further than the coordinator.
 */
final class ReaderAddress implements OperatorEvent {

    private static final long serialVersionUID = 1L;

    private final String host;
    private final int port;
    private final byte[] secret;

    /**
     * @param secret of {@link io.github.gpujoin.rdma.session.JobSecret}
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
