package io.github.gpujoin.rdma.session;

import java.io.IOException;

/** A session is over for good: the task that owns it fails, and its job restarts. */
public final class SessionException extends IOException {

    private static final long serialVersionUID = 1;

    public SessionException(String message, Throwable cause) {
        super(message, cause);
    }
}
