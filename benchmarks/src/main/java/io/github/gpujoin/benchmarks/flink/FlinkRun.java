// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Input and clock of one measured job, shared by its sources and sinks in the process of the
 * embedded cluster.
 *
 * <p>The clock is the same for every Flink contender and excludes the start of the cluster, the
 * deployment and the build side:
 *
 * <ol>
 *   <li>Build sources send their rows. Probe sources send a few <em>primes</em>: the last build
 *       chunk of each build subtask, as probes. Flink's channels keep order, so when the sinks have
 *       received the results of all primes, all build rows before them are in the join's table.
 *       Then the sources send the primes again, which now take the way of the timed rows. Nothing
 *       is timed.
 *   <li>The last result of a prime opens the gate: it starts the clock and releases the probe
 *       sources. At this moment the build side is loaded and no record is in flight.
 *   <li>The clock stops when the last sink has received its last result.
 * </ol>
 *
 * <p>A rate is the number of probe rows after the primes divided by the time from the opening of
 * the gate to the last result. Flink serializes sources and sinks, so they find their run by its
 * number, and the cluster must be in this process. Thread-safe after its configuration.
 */
public final class FlinkRun implements AutoCloseable {

    private static final Map<Integer, FlinkRun> OPEN = new ConcurrentHashMap<>();
    private static final AtomicInteger NEXT_ID = new AtomicInteger();
    private static final int PRIME_ROUNDS = 2;
    private static final List<CompletableFuture<Void>> AT_ONCE =
            List.of(CompletableFuture.completedFuture(null));

    private final int id = NEXT_ID.incrementAndGet();
    private final Tuples tuples;
    private final List<Chunk> timed;
    private final int parallelism;
    private final boolean endless;
    private final boolean buildOnly;
    private volatile double sinkRowsPerSecond;
    private volatile int fanOut = 1;
    private volatile int checkInterval = 1;
    private final List<CompletableFuture<Void>> buildGates;
    private final List<CountDownLatch> buildSent = new ArrayList<>();

    /** Of one round. */
    private final long primeRows;

    private final AtomicLong primesAnswered = new AtomicLong();
    private final CompletableFuture<Void> tablesBuilt = new CompletableFuture<>();
    private final CompletableFuture<Void> gate = new CompletableFuture<>();
    private final CompletableFuture<Void> allFinished = new CompletableFuture<>();
    private final LongAdder endlessRows = new LongAdder();
    private @Nullable Map<Long, Long> buildPayloads;
    private volatile long startNs;
    private long endNs;
    private int finishedSinks;
    private JoinAnswer answer = JoinAnswer.NOTHING;

    private FlinkRun(
            Tuples tuples,
            List<Chunk> timed,
            int parallelism,
            boolean endless,
            boolean buildOnly,
            List<CompletableFuture<Void>> buildGates) {
        this.tuples = tuples;
        this.buildGates = buildGates;
        buildGates.forEach(gate -> buildSent.add(new CountDownLatch(parallelism)));
        this.timed = timed;
        this.parallelism = parallelism;
        this.endless = endless;
        this.buildOnly = buildOnly;
        long rows = 0;
        for (int subtask = 0; subtask < parallelism; subtask++) {
            rows += Tuples.rowCount(primed(subtask));
        }
        this.primeRows = rows;
    }

    /** Opens a run whose probe sources send the timed chunks once. */
    public static FlinkRun bounded(Tuples tuples, List<Chunk> timed, int parallelism) {
        return register(new FlinkRun(tuples, timed, parallelism, false, false, AT_ONCE));
    }

    /** Opens a run whose probe sources repeat the probe chunks until the job is cancelled. */
    public static FlinkRun endless(Tuples tuples, int parallelism) {
        return register(new FlinkRun(tuples, tuples.probe(), parallelism, true, false, AT_ONCE));
    }

    /**
     * Opens an endless run whose build sources send one of several portions at each {@link
     * #sendBuild}. Its probe sources send only the primes, so that a checkpoint after them contains
     * the build side and no in-flight probe: a run that is restored from it counts only its own
     * primes.
     */
    public static FlinkRun inPortions(Tuples tuples, int parallelism, int portions) {
        List<CompletableFuture<Void>> gates = new ArrayList<>();
        for (int i = 0; i < portions; i++) {
            gates.add(new CompletableFuture<>());
        }
        return register(new FlinkRun(tuples, List.of(), parallelism, true, true, gates));
    }

    private static FlinkRun register(FlinkRun run) {
        OPEN.put(run.id, run);
        return run;
    }

    static FlinkRun of(int id) {
        FlinkRun run = OPEN.get(id);
        if (run == null) {
            throw new IllegalStateException(
                    "Unknown run; sources and sinks must run in the process that opened it: run="
                            + id);
        }
        return run;
    }

    int id() {
        return id;
    }

    /**
     * Limits all sinks together to a rate. Call it before the job starts.
     *
     * @param rowsPerSecond 0 for no limit
     */
    public void holdSinksTo(double rowsPerSecond) {
        sinkRowsPerSecond = rowsPerSecond / parallelism;
    }

    /**
     * Sets how often each build chunk is sent, so the fan-out. Call it before the job starts.
     *
     * @param times at least 1
     */
    public void multiplyBuild(int times) {
        fanOut = times;
    }

    /**
     * Makes the sinks add up the results of every n-th fact chunk of their subtask only, where that
     * would cost more than the join. Call it before the job starts.
     *
     * @param chunks n; 1 for all
     */
    void checkEvery(int chunks) {
        checkInterval = chunks;
    }

    /** Returns the results that the sink of a subtask adds up. */
    CheckedRows checkedRows(int subtask) {
        return new CheckedRows(timed(subtask), checkInterval);
    }

    /** Returns what the sinks should count and add up. */
    JoinAnswer expected() {
        return tuples.expected(timed.size(), chunk -> chunk / parallelism % checkInterval == 0);
    }

    /** Returns how often each build chunk is sent. */
    int fanOut() {
        return fanOut;
    }

    /** Returns the limit of one sink in rows a second; 0 for no limit. */
    double sinkRowsPerSecond() {
        return sinkRowsPerSecond;
    }

    boolean isEndless() {
        return endless;
    }

    /** Returns the build chunks that a subtask sends. */
    List<TupleReader.Portion> build(int subtask) {
        List<Chunk> own = Tuples.share(tuples.build(), subtask, parallelism);
        List<TupleReader.Portion> portions = new ArrayList<>();
        int count = buildGates.size();
        for (int i = 0; i < count; i++) {
            int from = (int) ((long) own.size() * i / count);
            int end = (int) ((long) own.size() * (i + 1) / count);
            portions.add(
                    new TupleReader.Portion(
                            buildGates.get(i),
                            own.subList(from, end),
                            buildSent.get(i)::countDown));
        }
        return portions;
    }

    /** Returns the payloads of all build rows by key, from one map that all callers share. */
    synchronized Map<Long, Long> buildPayloads() {
        if (buildPayloads == null) {
            buildPayloads = new HashMap<>();
            for (Chunk chunk : tuples.build()) {
                for (int row = 0; row < chunk.rowCount(); row++) {
                    buildPayloads.put(
                            chunk.getLong(TupleSchemas.KEY, row),
                            chunk.getLong(TupleSchemas.PAYLOAD, row));
                }
            }
        }
        return buildPayloads;
    }

    /**
     * Makes the build sources send a portion, and waits until they have sent it.
     *
     * @param portion number from 0; send them in order
     * @return false if they have not after {@code timeoutS} seconds
     */
    public boolean sendBuild(int portion, long timeoutS) throws InterruptedException {
        buildGates.get(portion).complete(null);
        return buildSent.get(portion).await(timeoutS, TimeUnit.SECONDS);
    }

    /** Returns the probe chunks that a subtask sends before the gate opens. */
    List<Chunk> primes(int subtask) {
        return primed(subtask).stream().map(tuples::asProbe).toList();
    }

    /** Returns the last build chunk of a subtask, if it has any. */
    private List<Chunk> primed(int subtask) {
        List<Chunk> own = Tuples.share(tuples.build(), subtask, parallelism);
        return own.subList(Math.max(0, own.size() - 1), own.size());
    }

    /**
     * Releases the primes for a second time, when all results of the first have arrived. Those of
     * the first may have waited for tables or receivers as copies on the heap; these find the way
     * that the timed chunks will go.
     */
    CompletableFuture<Void> tablesBuilt() {
        return tablesBuilt;
    }

    /** Releases the timed probe chunks: with the gate, or never in a run without any. */
    CompletableFuture<Void> timedGate() {
        return buildOnly ? new CompletableFuture<>() : gate;
    }

    /** Returns the probe chunks that a subtask sends after the gate opened. */
    List<Chunk> timed(int subtask) {
        return Tuples.share(timed, subtask, parallelism);
    }

    /** Completes when the sinks have received the results of all primes. */
    public CompletableFuture<Void> gate() {
        return gate;
    }

    /** Counts result rows that arrived before the gate opened. */
    void primesAnswered(long rows) {
        long sum = primesAnswered.addAndGet(rows);
        if (sum > expectedPrimes()) {
            throw new IllegalStateException(
                    "More results than primes: primes="
                            + primeRows
                            + ", fanOut="
                            + fanOut
                            + ", answers="
                            + sum);
        }
        if (sum == expectedPrimes() / PRIME_ROUNDS) {
            tablesBuilt.complete(null);
        }
        if (sum == expectedPrimes()) {
            startNs = System.nanoTime();
            gate.complete(null);
        }
    }

    private long expectedPrimes() {
        return PRIME_ROUNDS * primeRows * fanOut;
    }

    boolean isGateOpen() {
        return gate.isDone();
    }

    /** Describes how many results of primes have arrived, for messages. */
    public String progress() {
        return "primes=" + primeRows + ", answers=" + primesAnswered.get();
    }

    /** Counts result rows of an endless run, which never finishes. */
    void addResultRows(long rows) {
        endlessRows.add(rows);
    }

    /** Returns the results of an endless run after its gate opened; 0 for a bounded run. */
    public long resultRows() {
        return endlessRows.sum();
    }

    /** Called when a sink has received its last result; {@code part} covers all of its results. */
    synchronized void finished(JoinAnswer part) {
        endNs = Math.max(endNs, System.nanoTime());
        answer = answer.plus(part);
        if (++finishedSinks == parallelism) {
            allFinished.complete(null);
        }
    }

    /** Completes when all sinks have received their last result; never in an endless run. */
    public CompletableFuture<Void> allFinished() {
        return allFinished;
    }

    /** Time at which the gate opened, by {@link System#nanoTime()}; 0 before. */
    public long startNs() {
        return startNs;
    }

    /** Returns the sum of what the finished sinks received. */
    public synchronized JoinAnswer answer() {
        return answer;
    }

    synchronized long elapsedNs() {
        return endNs - startNs;
    }

    /** Forgets the run: its sources and sinks no longer find it. Does not cancel the job. */
    @Override
    public void close() {
        OPEN.remove(id);
    }
}
