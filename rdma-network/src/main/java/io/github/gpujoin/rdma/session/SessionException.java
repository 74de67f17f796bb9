// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.io.IOException;

/** A session failed permanently: the task that owns it fails, and Flink restarts the job. */
public final class SessionException extends IOException {

    private static final long serialVersionUID = 1;

    public SessionException(String message, Throwable cause) {
        super(message, cause);
    }
}
