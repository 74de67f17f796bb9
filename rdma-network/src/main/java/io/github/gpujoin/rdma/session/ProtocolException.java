// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A peer violated the protocol; its link is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1;

    private final transient @Nullable Refusal answer;

    public ProtocolException(String message) {
        this(message, null);
    }

    ProtocolException(String message, @Nullable Refusal answer) {
        super(message);
        this.answer = answer;
    }

    /** Returns the refusal to send before the link is closed, or null to send none. */
    @Nullable Refusal answer() {
        return answer;
    }
}
