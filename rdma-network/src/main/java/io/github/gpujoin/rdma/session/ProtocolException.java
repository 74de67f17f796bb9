package io.github.gpujoin.rdma.session;

import java.io.IOException;

/** A peer sent what the protocol does not allow; its link is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1;

    private final transient Refusal answer;

    public ProtocolException(String message) {
        this(message, null);
    }

    ProtocolException(String message, Refusal answer) {
        super(message);
        this.answer = answer;
    }

    /** What the peer is told before its link is closed; null for nothing. */
    Refusal answer() {
        return answer;
    }
}
