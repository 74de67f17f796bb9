// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import io.github.gpujoin.benchmarks.flink.FlinkContender;
import io.github.gpujoin.benchmarks.flink.FlinkRun;
import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The columnar star join on an embedded cluster, its probe side sent over and over. */
public final class EndlessJoin implements EndlessJob {

    private static final long CANCEL_TIMEOUT_S = 60;

    private final FlinkRun run;
    private final JobClient client;

    private EndlessJoin(FlinkRun run, JobClient client) {
        this.run = run;
        this.client = client;
    }

    public static EndlessJoin start(Tuples tuples, int threads) throws Exception {
        FlinkRun run = FlinkRun.endless(tuples, threads);
        StreamExecutionEnvironment env = FlinkContender.environment(threads, new Configuration());
        StarJoinJobs.columnar(env, run);
        return new EndlessJoin(run, env.executeAsync("soak"));
    }

    @Override
    public long resultRows() {
        return run.resultRows();
    }

    @Override
    public void requireRunning() throws Exception {
        if (client.getJobExecutionResult().isDone()) {
            client.getJobExecutionResult().get();
            throw new IllegalStateException(
                    "an endless job does not end: resultRows=" + resultRows());
        }
    }

    @Override
    public void close() throws Exception {
        try {
            if (!client.getJobExecutionResult().isDone()) {
                client.cancel().get(CANCEL_TIMEOUT_S, TimeUnit.SECONDS);
            }
        } finally {
            run.close();
        }
    }
}
