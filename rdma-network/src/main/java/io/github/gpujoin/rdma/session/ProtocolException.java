package io.github.gpujoin.rdma.session;

import java.io.IOException;

/** A peer sent what the protocol does not allow; its link is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1;

    public ProtocolException(String message) {
        super(message);
    }
}
