// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.records.CpuClock;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;

/**
 * One run of a job: its events, its clocks and the sum of its result. Found by number in the
 * process, since a job cannot carry it. Thread-safe.
 *
 * <p>The clocks run from the start of the first source subtask to the end of input of the last
 * sink, so that planning and deployment do not count.
 */
public final class SqlRun implements AutoCloseable {

    private static final Map<Integer, SqlRun> OPEN = new ConcurrentHashMap<>();
    private static final AtomicInteger NEXT_ID = new AtomicInteger();

    private final int id = NEXT_ID.incrementAndGet();
    private final List<EventLog> logs;
    private final Map<StreamExecutionEnvironment, SingleOutputStreamOperator<RowData>> sources =
            new WeakHashMap<>();
    private boolean isStarted;
    private long startNs;
    private long startCpuNs;
    private long endNs;
    private long endCpuNs;
    private JoinAnswer answer = JoinAnswer.NOTHING;

    /**
     * @param logs the events of each source subtask
     */
    public SqlRun(List<EventLog> logs) {
        this.logs = List.copyOf(logs);
        OPEN.put(id, this);
    }

    static SqlRun of(int id) {
        SqlRun run = OPEN.get(id);
        if (run == null) {
            throw new IllegalStateException("Run is closed, or in another process: run=" + id);
        }
        return run;
    }

    /** Returns the number by which tables find this run. */
    public int id() {
        return id;
    }

    EventLog log(int subtask) {
        return logs.get(subtask);
    }

    /** Returns the events in their order; each table of the job is a side output. */
    synchronized SingleOutputStreamOperator<RowData> events(StreamExecutionEnvironment env) {
        return sources.computeIfAbsent(
                env,
                key ->
                        key.fromSource(
                                        new EventSource(id),
                                        WatermarkStrategy.noWatermarks(),
                                        "events")
                                .setParallelism(logs.size())
                                .process(new EventRouter())
                                .setParallelism(logs.size()));
    }

    synchronized void start() {
        if (!isStarted) {
            isStarted = true;
            startNs = System.nanoTime();
            startCpuNs = CpuClock.nowNs();
        }
    }

    synchronized void finish(JoinAnswer part) {
        answer = answer.plus(part);
        endNs = System.nanoTime();
        endCpuNs = CpuClock.nowNs();
    }

    /** Returns the rows of the materialised result and the sum of their hashes. */
    synchronized JoinAnswer answer() {
        return answer;
    }

    synchronized long elapsedNs() {
        return endNs - startNs;
    }

    /**
     * Returns the processor time of the process between start and end, without Java's compilers.
     */
    synchronized long cpuNs() {
        return endCpuNs - startCpuNs;
    }

    @Override
    public void close() {
        OPEN.remove(id);
    }
}
