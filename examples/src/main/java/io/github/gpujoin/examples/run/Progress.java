// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;

/**
 * Shows the share of the expected rows that a job has read. A terminal shows a progress bar; other
 * outputs receive a line every two seconds. A daemon thread polls the job until {@link #close()}.
 */
public final class Progress implements AutoCloseable {

    private static final int BAR_WIDTH = 30;
    private static final Duration BAR_INTERVAL = Duration.ofMillis(250);
    private static final Duration LINE_INTERVAL = Duration.ofSeconds(2);

    private final PrintWriter out;
    private final boolean terminal;
    private final String label;
    private final JobClient job;
    private final long expectedRows;
    private final ScheduledExecutorService timer;

    private Progress(
            PrintWriter out, boolean terminal, String label, JobClient job, long expectedRows) {
        this.out = out;
        this.terminal = terminal;
        this.label = label;
        this.job = job;
        this.expectedRows = expectedRows;
        this.timer =
                Executors.newSingleThreadScheduledExecutor(
                        task -> {
                            Thread thread = new Thread(task, "progress");
                            thread.setDaemon(true);
                            return thread;
                        });
    }

    /** Starts to show the progress of a running job. */
    public static Progress show(PrintWriter out, String label, JobClient job, long expectedRows) {
        boolean terminal = System.console() != null && System.getenv("TERM") != null;
        Progress progress = new Progress(out, terminal, label, job, expectedRows);
        if (!terminal) {
            out.printf("%s: about %,d rows to read%n", label, expectedRows);
            out.flush();
        }
        long intervalMs = (terminal ? BAR_INTERVAL : LINE_INTERVAL).toMillis();
        progress.timer.scheduleWithFixedDelay(
                progress::poll, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
        return progress;
    }

    private void poll() {
        try {
            Object rows = job.getAccumulators().get(5, TimeUnit.SECONDS).get(RowCounter.ROWS_READ);
            if (rows instanceof Long count) {
                draw(count);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            // Accumulators are unavailable before the job runs and after it ends.
        }
    }

    private void draw(long rows) {
        double done = expectedRows == 0 ? 1 : Math.min(1, (double) rows / expectedRows);
        String percent = "%3.0f %%".formatted(100 * done);
        if (terminal) {
            int filled = (int) Math.round(done * BAR_WIDTH);
            String bar = "#".repeat(filled) + ".".repeat(BAR_WIDTH - filled);
            out.print("\r" + label + " [" + bar + "] " + percent);
        } else {
            out.println(label + ": " + percent.strip() + " of the input read");
        }
        out.flush();
    }

    @Override
    public void close() {
        timer.shutdownNow();
        try {
            timer.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (terminal) {
            out.print("\r" + " ".repeat(label.length() + BAR_WIDTH + 10) + "\r");
            out.flush();
        }
    }
}
