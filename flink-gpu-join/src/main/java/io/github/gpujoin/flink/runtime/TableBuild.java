package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinEngine;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Completes an engine's tables in self-posted mails of a few milliseconds, so that barriers and
 * cancellation never wait for the whole build.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class TableBuild {

    private final JoinEngine engine;
    private final MailboxExecutor mailbox;
    private final ThrowingRunnable<Exception> onBuilt;
    private boolean running;

    /**
     * @param onBuilt run once, when the tables are complete
     */
    TableBuild(JoinEngine engine, MailboxExecutor mailbox, ThrowingRunnable<Exception> onBuilt) {
        this.engine = engine;
        this.mailbox = mailbox;
        this.onBuilt = onBuilt;
    }

    /** Whether tables are being made. */
    boolean isRunning() {
        return running;
    }

    /** Starts, and completes small tables at once; to be called once. */
    void start() throws Exception {
        running = true;
        turn();
    }

    private void turn() throws Exception {
        if (running && !work()) {
            mailbox.execute(this::turn, "build tables");
        }
    }

    /**
     * Completes the tables, if they are being made.
     *
     * @param check throws if the task does not go on
     */
    void await(ThrowingRunnable<Exception> check) throws Exception {
        while (running && !work()) {
            check.run();
        }
    }

    /** Works for about the time of a mail; whether the tables are complete. */
    private boolean work() throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ProbeSide.MAIL_MS);
        // If a step fails, Flink may still run a mail of ours before it reports the failure.
        running = false;
        while (!engine.buildStep(JoinEngine.BUILD_STEP_ROWS)) {
            if (System.nanoTime() - deadlineNs >= 0) {
                running = true;
                return false;
            }
        }
        onBuilt.run();
        return true;
    }
}
