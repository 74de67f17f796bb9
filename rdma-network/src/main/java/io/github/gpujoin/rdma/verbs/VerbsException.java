// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A verbs operation failed. The message names the fault, the remedy and the {@link VerbsFailure}.
 */
public final class VerbsException extends IOException {

    private static final long serialVersionUID = 1L;

    private final VerbsFailure failure;

    /**
     * @param failure appended to the message
     * @param message fault, values, remedy
     */
    public VerbsException(VerbsFailure failure, String message) {
        this(failure, message, null);
    }

    public VerbsException(VerbsFailure failure, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.failure = failure;
    }

    public VerbsFailure failure() {
        return failure;
    }

    @Override
    public String getMessage() {
        return super.getMessage() + " (" + failure + ")";
    }
}
