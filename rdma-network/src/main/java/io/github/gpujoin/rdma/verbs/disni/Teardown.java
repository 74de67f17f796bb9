package io.github.gpujoin.rdma.verbs.disni;

import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/** What has been made so far, to be ended in reverse order; ends all of it whatever fails. */
final class Teardown implements AutoCloseable {

    /** Ends one thing. */
    interface Step {
        void run() throws IOException;
    }

    private final Deque<Step> steps = new ArrayDeque<>();

    void add(Step step) {
        steps.push(step);
    }

    /**
     * @param code 0, or the negative errno
     */
    static void check(String call, int code) throws VerbsException {
        if (code != 0) {
            throw new VerbsException(
                    VerbsFailure.FAILED_CALL, call + " failed: errno=" + Math.abs(code));
        }
    }

    /** Ends all. A second call does nothing. */
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

    /** Ends all after a failure, which stays the one to report. */
    <E extends Exception> E closeAfter(E failure) {
        try {
            close();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }
}
