// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.kafka;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * One run of a job.
 *
 * @param rows that it read
 * @param elapsedNs from the first element to the end
 * @param taskCpuNs CPU time of the task's thread in it: decoding and counting
 * @param fetcherCpuNs CPU time of the consumer's thread: fetching, and an object for each record
 * @param isRight whether it read each order once
 */
public record KafkaRun(
        long rows, long elapsedNs, long taskCpuNs, long fetcherCpuNs, boolean isRight) {

    private static final String FETCHER = "Source Data Fetcher for ";
    private static final long SAMPLE_MS = 5;

    /** Runs a job over a topic with the orders 0 to {@code records - 1}. */
    public static KafkaRun of(KafkaJob job, OrdersTopic topic, int records) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1);
        env.getConfig().enableObjectReuse();
        job.build(env, topic.servers());
        AtomicBoolean done = new AtomicBoolean();
        AtomicLong fetcherCpuNs = new AtomicLong();
        Thread sampler = new Thread(() -> sample(done, fetcherCpuNs), "fetcher-cpu");
        sampler.start();
        env.execute(job.label());
        done.set(true);
        sampler.join();
        Counting.Count count = Counting.LAST.get();
        long sum = (long) records * (records - 1) / 2;
        return new KafkaRun(
                count.rows(),
                count.elapsedNs(),
                count.taskCpuNs(),
                fetcherCpuNs.get(),
                count.rows() == records && count.sum() == sum);
    }

    /** The thread ends with the topic; what it used in its last milliseconds is not seen. */
    private static void sample(AtomicBoolean done, AtomicLong cpuNs) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long fetcher = -1;
        while (!done.get()) {
            if (fetcher < 0) {
                fetcher = fetcherId();
            } else {
                cpuNs.accumulateAndGet(threads.getThreadCpuTime(fetcher), Math::max);
            }
            try {
                Thread.sleep(SAMPLE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static long fetcherId() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(FETCHER))
                .mapToLong(Thread::getId)
                .findFirst()
                .orElse(-1);
    }

    /** Rows in a second of one core that fetches, decodes and counts. */
    public double rowsPerCpuSecond() {
        return rows * 1e9 / (taskCpuNs + fetcherCpuNs);
    }
}
