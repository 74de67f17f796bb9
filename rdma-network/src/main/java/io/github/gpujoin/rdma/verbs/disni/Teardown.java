// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** Closes resources in the reverse order of their creation, and all of them if some fail. */
final class Teardown implements AutoCloseable {

    /** Closes one resource. */
    interface Step {
        void run() throws IOException;
    }

    private final Deque<Step> steps = new ArrayDeque<>();

    void add(Step step) {
        steps.push(step);
    }

    /**
     * Checks the result of a native call.
     *
     * @param code 0, or the negative errno
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL} if it is not 0
     */
    static void check(String call, int code) throws VerbsException {
        if (code != 0) {
            throw new VerbsException(
                    VerbsFailure.FAILED_CALL, call + " failed: errno=" + Math.abs(code));
        }
    }

    /** Closes all resources. Idempotent. */
    @Override
    public void close() throws IOException {
        IOException first = null;
        while (!steps.isEmpty()) {
            try {
                steps.pop().run();
            } catch (IOException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Closes all resources after a failure and returns it, with further ones suppressed. */
    <E extends Exception> E closeAfter(E failure) {
        try {
            close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }
}
