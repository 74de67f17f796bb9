package io.github.gpujoin.rdma.transport;

import java.io.IOException;

/** A transport cannot do what was asked; the message says what is missing and what to do. */
public class TransportException extends IOException {

    private static final long serialVersionUID = 1;

    public TransportException(String message) {
        super(message);
    }

    public TransportException(String message, Throwable cause) {
        super(message, cause);
    }
}
