// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinEngine;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Builds an engine's tables in self-posted mails of a few milliseconds, so that barriers and
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
     * @param onBuilt called once, when the tables are complete
     */
    TableBuild(JoinEngine engine, MailboxExecutor mailbox, ThrowingRunnable<Exception> onBuilt) {
        this.engine = engine;
        this.mailbox = mailbox;
        this.onBuilt = onBuilt;
    }

    /** Whether tables are being built. */
    boolean isRunning() {
        return running;
    }

    /** Starts the build, and completes small tables at once. To be called once. */
    void start() throws Exception {
        running = true;
        onMail();
    }

    private void onMail() throws Exception {
        if (running && !work()) {
            mailbox.execute(this::onMail, "build tables");
        }
    }

    /**
     * Completes the tables, if they are being built.
     *
     * @param check throws if the task has been cancelled
     */
    void await(ThrowingRunnable<Exception> check) throws Exception {
        while (running && !work()) {
            check.run();
        }
    }

    /** Builds for the time of one mail, and returns whether the tables are complete. */
    private boolean work() throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ProbePath.MAIL_MS);
        // If a step fails, Flink may still run one of our mails before it reports the failure.
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
