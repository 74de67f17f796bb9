package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.checkpoint.BuildLog;
import io.github.gpujoin.flink.checkpoint.JoinMetadata;
import io.github.gpujoin.flink.checkpoint.PartitionKeys;
import io.github.gpujoin.flink.checkpoint.ProbeLog;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.transport.RingOptions;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;

/**
 * Joins chunks of facts (input 2) with chunks of any number of dimensions (input 1).
 *
 * <p>In {@link JoinPhase#LOAD} build chunks go to the log in state and to the engine, and facts
 * wait in state. The phase ends with the largest watermark on input 1 or with its end. In {@link
 * JoinPhase#JOIN} facts go to the engine and results to the output. Facts that the engine has no
 * room for within {@value #MAX_WAIT_MS} ms join those that wait in state, so that a barrier is
 * never far behind. What waits is worked off in self-posted mails of a few milliseconds.
 *
 * <p>A snapshot holds the build log, the facts that wait, and the facts in flight with how far they
 * were emitted. Nothing is drained at a barrier, but for an aggregating engine, whose groups are
 * emitted before it. The engine's tables are made anew from the log.
 *
 * <p>Everything runs in the task's mailbox thread.
 */
public final class StarJoinOperator<OUT> extends AbstractStreamOperator<OUT>
        implements TwoInputStreamOperator<Chunk, Chunk, OUT>, BoundedMultiInput {

    private static final long serialVersionUID = 1L;

    /** Longest time that one chunk of facts holds up the next barrier. */
    private static final long MAX_WAIT_MS = 100;

    /** Time that one mail works before others get their turn. */
    private static final long MAIL_MS = 10;

    private static final int BUILD_INPUT = 0;

    /** Stands for build rows without a match where results are waited for. */
    private static final int UNMATCHED = Integer.MIN_VALUE;

    private final JoinSpec spec;
    private final EngineSelection engines;
    private final ResultEmitterFactory<OUT> emitterFactory;
    private final int partitions;
    private final long groupIntervalMs;
    private final RingOptions rings;
    private final transient MailboxExecutor mailbox;
    private final transient OperatorEventGateway coordinator;

    private transient ChunkReceiver chunks;
    private transient JoinEngine engine;
    private transient EngineInUse engineInUse;

    /** Null where all build rows always have tables. */
    private transient SpilledFacts spilledFacts;

    private transient ResultEmitter<OUT> emitter;
    private transient ResultPump pump;
    private transient UnmatchedBuildRows<OUT> unmatched;
    private transient WatermarkGate watermarks;
    private transient BuildLog buildLog;
    private transient ProbeLog probeLog;
    private transient JoinMetrics joinMetrics;
    private transient JoinPhase phase;
    private transient boolean mailPosted;

    StarJoinOperator(
            StreamOperatorParameters<OUT> parameters,
            JoinSpec spec,
            EngineSelection engines,
            ResultEmitterFactory<OUT> emitterFactory,
            int partitions,
            long groupIntervalMs,
            RingOptions rings) {
        super(parameters);
        this.spec = spec;
        this.engines = engines;
        this.emitterFactory = emitterFactory;
        this.partitions = partitions;
        this.groupIntervalMs = groupIntervalMs;
        this.rings = rings;
        this.mailbox = parameters.getMailboxExecutor();
        this.coordinator =
                parameters
                        .getOperatorEventDispatcher()
                        .getOperatorEventGateway(parameters.getStreamConfig().getOperatorID());
    }

    // ------------------------------------------------------------------ life cycle

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        int maxParallelism = getRuntimeContext().getTaskInfo().getMaxNumberOfParallelSubtasks();
        int parallelism = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
        int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        if (maxParallelism != partitions) {
            throw new IllegalStateException(
                    "there is one radix partition for each key group, so the maximum parallelism is"
                            + " set before the join is built: partitions="
                            + partitions
                            + ", maxParallelism="
                            + maxParallelism);
        }
        PartitionKeys keys = new PartitionKeys(maxParallelism, parallelism, subtask);
        new JoinMetadata(context.getOperatorStateStore(), spec, partitions).checkAndWrite();
        buildLog = new BuildLog(context, keys, this::setCurrentKey);
        probeLog =
                new ProbeLog(
                        context.getKeyedStateStore(), keys, this::setCurrentKey, spec.factSchema());

        phase = JoinPhase.LOAD;
        chunks =
                ChunkReceiver.open(
                        config.getInPhysicalEdges(getUserCodeClassloader()),
                        getContainingTask().getEnvironment(),
                        rings,
                        coordinator,
                        getContainingTask()::isCanceled);
        openEngine(keys);
        watermarks = new WatermarkGate(element -> pump.pass(element));
        joinMetrics = new JoinMetrics(getMetricGroup(), engine, probeLog, partitions);
        emitter = emitterFactory.create(getRuntimeContext());
        pump = createPump();
        unmatched =
                UnmatchedBuildRows.of(
                        emitter,
                        context.getKeyedStateStore(),
                        keys,
                        this::setCurrentKey,
                        buildLog.reader(this::wrapBuild),
                        output);
        if (context.isRestored()) {
            restore();
        }
    }

    private void openEngine(PartitionKeys keys) {
        EngineReport report =
                new EngineReport(getOperatorName(), getMetricGroup(), engines.asked());
        JoinEngineFactory preferred = engines.preferredOn(getRuntimeContext());
        engineInUse =
                engines.division() == null
                        ? openWhole(preferred, report)
                        : openDivided(preferred, keys, report);
        report.register(engineInUse);
    }

    private EngineInUse openWhole(JoinEngineFactory preferred, EngineReport report) {
        SharedTables.Scope scope =
                new SharedTables.Scope(
                        getRuntimeContext().getJobInfo().getJobId(), getOperatorID());
        FallbackJoinEngine opened =
                new FallbackJoinEngine(
                        spec,
                        preferred == null ? null : SharedTablesEngine.factory(preferred, scope),
                        SharedTablesEngine.factory(engines.standby(), scope),
                        into ->
                                buildLog.replay(
                                        this::wrapBuild,
                                        chunk -> into.submitBuild(chunk.dimension(), chunk)),
                        report::fallback);
        engine = opened;
        return opened;
    }

    private EngineInUse openDivided(
            JoinEngineFactory preferred, PartitionKeys keys, EngineReport report) {
        DividedEngine opened =
                DividedEngine.open(
                        spec,
                        engines.division(),
                        keys.ownPartitions(),
                        preferred,
                        engines.standby(),
                        new BuildLogChunks(buildLog, this::wrapBuild),
                        report::fallback);
        engine = opened.engine();
        spilledFacts =
                new SpilledFacts(
                        opened.engine(),
                        probeLog,
                        getProcessingTimeService(),
                        engines.division().spillDelayMs(),
                        this::postMail);
        opened.register(getMetricGroup(), spilledFacts);
        return opened;
    }

    /** Chunks of one line are answered in the order in which they came. */
    private int line(Chunk chunk) {
        return spilledFacts == null ? 0 : chunk.partition();
    }

    private void completed(Chunk chunk) throws Exception {
        watermarks.completed(line(chunk));
    }

    private ResultPump createPump() {
        if (!spec.aggregates()) {
            return new RowPump<>(
                    engine,
                    emitter,
                    output,
                    this::completed,
                    new FanOutWatch(getOperatorName(), spec, getMetricGroup()));
        }
        return new GroupPump<>(
                engine,
                emitter,
                output,
                this::completed,
                getProcessingTimeService(),
                groupIntervalMs);
    }

    /** Takes up in LOAD: inputs that were complete say so again, after what was in flight. */
    private void restore() throws Exception {
        buildLog.replay(
                this::wrapBuild,
                chunk -> {
                    unmatched.restored(chunk);
                    load(chunk);
                });
        unmatched.restore();
        probeLog.restore(partition -> watermarks.accepted(spilledFacts == null ? 0 : partition));
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        if (phase == JoinPhase.JOIN) {
            pump.flushAll();
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        if (phase == JoinPhase.JOIN) {
            probeLog.snapshotInFlight(engine.snapshot());
        }
        unmatched.snapshot();
    }

    @Override
    public void endInput(int inputId) throws Exception {
        if (inputId - 1 == BUILD_INPUT) {
            // Comes again after a restore with a finished source.
            startJoining();
        } else {
            factsEnded();
        }
    }

    @Override
    public void finish() throws Exception {
        resumeSpilled();
        while (hasWork()) {
            work(MAX_WAIT_MS);
            checkNotCancelled();
        }
        if (phase == JoinPhase.JOIN) {
            pump.flushAll();
        }
        super.finish();
    }

    @Override
    public void close() throws Exception {
        // The emitter holds addresses of the engine's memory and goes first.
        IOUtils.closeAll(chunks, emitter, engine, super::close);
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void processElement1(StreamRecord<Chunk> element) throws Exception {
        Chunk chunk = chunks.build(element.getValue());
        if (phase != JoinPhase.LOAD) {
            DimensionSpec dimension = spec.dimensions().get(chunk.dimension());
            throw new IllegalStateException(
                    "a dimension's rows come before its watermark says that it is complete:"
                            + " dimension="
                            + dimension.name()
                            + ", lateRows="
                            + chunk.rowCount());
        }
        Chunk numbered = unmatched.numbered(chunk);
        buildLog.append(numbered);
        load(numbered);
    }

    private void load(Chunk chunk) {
        engine.submitBuild(chunk.dimension(), chunk);
        joinMetrics.buildChunk(chunk);
    }

    @Override
    public void processWatermark1(Watermark mark) throws Exception {
        if (mark.getTimestamp() == Long.MAX_VALUE) {
            startJoining();
        }
    }

    private void startJoining() {
        if (phase == JoinPhase.JOIN) {
            return;
        }
        long startNs = System.nanoTime();
        engine.finishBuild();
        phase = phase.to(JoinPhase.JOIN);
        LOG.info(
                "Star join {}: engine={}, dimensions={}, {}, buildSkew={}, table build took {} ms,"
                        + " fact chunks that waited={}",
                getOperatorName(),
                engineInUse.description(),
                spec.dimensions().stream().map(DimensionSpec::name).toList(),
                engine.stats(),
                joinMetrics.buildSkew(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs),
                probeLog.size());
        postMail();
    }

    private Chunk wrapBuild(byte[] bytes) {
        int dimension =
                bytes.length < ChunkDescriptor.HEADER_BYTES
                        ? 0
                        : Memory.getShort(bytes, Memory.BYTES + ChunkDescriptor.DIMENSION_OFFSET);
        if (dimension < 0 || dimension >= spec.dimensions().size()) {
            throw new IllegalStateException(
                    "a chunk of the build log is of one of the join's dimensions: dimension="
                            + dimension);
        }
        return Chunk.wrap(spec.dimensions().get(dimension).schema(), bytes);
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public void processElement2(StreamRecord<Chunk> element) throws Exception {
        PendingProbe probe = new PendingProbe(chunks.probe(element.getValue()), 0);
        watermarks.accepted(line(probe.chunk()));
        joinMetrics.probeChunk(probe.chunk());
        if (phase == JoinPhase.LOAD) {
            probeLog.append(probe);
            return;
        }
        if (spilledFacts != null && spilledFacts.putOff(probe)) {
            work(MAIL_MS);
            postMail();
            return;
        }
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MAX_WAIT_MS);
        while (!trySubmit(probe)) {
            if (System.nanoTime() - deadlineNs > 0) {
                probeLog.append(probe);
                postMail();
                return;
            }
            work(MAIL_MS);
        }
        work(MAX_WAIT_MS);
        postMail();
    }

    @Override
    public void processWatermark2(Watermark mark) throws Exception {
        if (mark.getTimestamp() == Long.MAX_VALUE) {
            factsEnded();
        }
        watermarks.hold(mark);
    }

    /** Has build rows without a match emitted behind all facts, and in front of their last mark. */
    private void factsEnded() {
        resumeSpilled();
        if (unmatched.factsEnded()) {
            watermarks.accepted(UNMATCHED);
        }
        postMail();
    }

    /** Has facts joined that were put off; no other ones will be. */
    private void resumeSpilled() {
        if (spilledFacts != null) {
            spilledFacts.factsEnded();
        }
    }

    /** Idleness of the facts is passed on in order; that of the build side means nothing here. */
    @Override
    protected void processWatermarkStatus(WatermarkStatus status, int index) throws Exception {
        if (index != BUILD_INPUT) {
            watermarks.hold(status);
        }
    }

    /** Submits behind what waits in state, never past it. */
    private boolean trySubmit(PendingProbe probe) {
        return probeLog.isEmpty() && engine.submitProbe(probe.chunk(), probe.firstRow());
    }

    private boolean hasWork() {
        return phase == JoinPhase.JOIN && (hasFacts() || unmatched.isDue());
    }

    private boolean hasFacts() {
        return engine.inFlight() > 0 || !probeLog.isEmpty();
    }

    /** Feeds the engine from state and emits results, for about that long at most. */
    private void work(long forMs) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(forMs);
        boolean goesOn = true;
        while (goesOn && hasWork()) {
            submitWaiting();
            goesOn = hasFacts() ? pump.turn() : emitUnmatched();
            goesOn &= System.nanoTime() - deadlineNs < 0;
        }
        // A barrier may come next, and it must not find results that nobody has.
        pump.flush();
    }

    /** Emits some; whether there were any. Facts that are put off come first. */
    private boolean emitUnmatched() throws Exception {
        if (!unmatched.isDue()) {
            return false;
        }
        unmatched.turn();
        if (!unmatched.isDue()) {
            watermarks.completed(UNMATCHED);
        }
        return true;
    }

    private void submitWaiting() throws Exception {
        while (hasWaiting()) {
            PendingProbe probe = probeLog.peek();
            if (!engine.submitProbe(probe.chunk(), probe.firstRow())) {
                return;
            }
            probeLog.remove();
        }
    }

    /** Whether there are facts to submit now; those that had better be put off are. */
    private boolean hasWaiting() throws Exception {
        if (spilledFacts != null) {
            spilledFacts.putOffNext();
        }
        return !probeLog.isEmpty();
    }

    private void postMail() {
        if (!mailPosted && hasWork()) {
            mailPosted = true;
            mailbox.execute(this::onMail, "join facts that wait");
        }
    }

    private void onMail() throws Exception {
        mailPosted = false;
        work(MAIL_MS);
        postMail();
    }

    private void checkNotCancelled() {
        if (getContainingTask().isCanceled()) {
            throw new CancelTaskException("the task was cancelled while it drained");
        }
    }

    // ------------------------------------------------------------------ keys

    /** The key of a chunk is set where state is touched: a broadcast chunk has none of its own. */
    @Override
    public void setKeyContextElement1(StreamRecord record) {}

    @Override
    public void setKeyContextElement2(StreamRecord record) {}
}
