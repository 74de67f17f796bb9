// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import io.github.gpujoin.flink.exchange.SubtaskAttempts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds the reports of all subtasks of a join, in the JobMaster.
 *
 * <p>Only an attempt that Flink has reported as started can report, and its report counts until the
 * attempt fails or is reset. So the sums are of one attempt of each subtask, whatever the order of
 * messages. Reports of finished subtasks remain.
 *
 * <p>A report that has to wait for others is answered with "not yet" after {@value #WAIT_MS} ms,
 * before Flink's RPC times out (10 s by default), and repeated by its subtask. The state is not
 * part of checkpoints: restored subtasks report again.
 *
 * <p>Thread-safe; the answers complete in the thread of the last report.
 */
final class HistogramExchange extends SubtaskAttempts {

    private static final Logger LOG = LoggerFactory.getLogger(HistogramExchange.class);
    private static final long WAIT_MS = 5_000;

    private final String join;
    private final long waitMs;
    private final Map<Integer, HistogramReport> reports = new HashMap<>();

    /** Reports that wait for those of others, by subtask. */
    private final Map<Integer, Waiting> waiting = new HashMap<>();

    /** Answers by process; null unless all subtasks have reported. */
    private @Nullable Map<String, GlobalHistogram> sums;

    private record Waiting(String process, CompletableFuture<@Nullable GlobalHistogram> answer) {}

    /**
     * @param join name of the join, for the log
     */
    HistogramExchange(String join) {
        this(join, WAIT_MS);
    }

    HistogramExchange(String join, long waitMs) {
        this.join = join;
        this.waitMs = waitMs;
    }

    @Override
    protected void forget(int subtask) {
        reports.remove(subtask);
        waiting.remove(subtask);
        sums = null;
    }

    @Override
    protected void forgetAll() {
        reports.clear();
        waiting.clear();
        sums = null;
    }

    /**
     * Records a report.
     *
     * @param parallelism of the join
     * @return completes with the sums, or with null if the subtask is to report again
     */
    CompletableFuture<@Nullable GlobalHistogram> report(HistogramReport report, int parallelism) {
        CompletableFuture<@Nullable GlobalHistogram> answer = new CompletableFuture<>();
        List<Runnable> answers = record(report, parallelism, answer);
        answers.forEach(Runnable::run);
        return answer.completeOnTimeout(null, waitMs, TimeUnit.MILLISECONDS);
    }

    /** Returns the answers that can be given now, so that no lock is held while they are. */
    private synchronized List<Runnable> record(
            HistogramReport report,
            int parallelism,
            CompletableFuture<@Nullable GlobalHistogram> answer) {
        int subtask = report.attempt().getSubtaskIndex();
        if (!isCurrent(report.attempt())) {
            // The report precedes Flink's message, or is of an earlier attempt.
            return List.of(() -> answer.complete(null));
        }
        // An attempt repeats the same report.
        reports.putIfAbsent(subtask, report);
        waiting.put(subtask, new Waiting(report.process(), answer));
        if (reports.size() < parallelism) {
            return List.of();
        }
        if (sums == null) {
            sums = GlobalHistogram.byProcess(reports.values());
            log(sums);
        }
        List<Runnable> answers = new ArrayList<>();
        for (Waiting waits : waiting.values()) {
            GlobalHistogram ofProcess = sums.get(waits.process());
            answers.add(() -> waits.answer().complete(ofProcess));
        }
        waiting.clear();
        return answers;
    }

    private void log(Map<String, GlobalHistogram> sums) {
        GlobalHistogram any = sums.values().iterator().next();
        LOG.info(
                "Star join {}: global histogram of {} subtasks in {} TaskManagers: rows={}, bytes={}, {}",
                join,
                any.job().subtasks(),
                sums.size(),
                any.job().rows(),
                any.job().bytes(),
                any.partitions());
    }
}
