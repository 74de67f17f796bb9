package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.engine.DividedEngine;
import io.github.gpujoin.flink.engine.EngineOpener;
import io.github.gpujoin.flink.engine.EngineStatus;
import io.github.gpujoin.flink.engine.SlotMemory;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.RowCountingOutput;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.backpressure.InputHold;
import io.github.gpujoin.flink.exchange.backpressure.OutputRoom;
import io.github.gpujoin.flink.exchange.ring.AnnouncedCheckpoints;
import io.github.gpujoin.flink.metrics.FanOutMonitor;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.metrics.RunReport;
import io.github.gpujoin.flink.metrics.StageTimes.Stage;
import io.github.gpujoin.flink.metrics.SubtaskCounts;
import io.github.gpujoin.flink.metrics.TimedEmitter;
import io.github.gpujoin.flink.record.ChunkSerializer;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import io.github.gpujoin.flink.runtime.expiry.DimensionExpiry;
import io.github.gpujoin.flink.runtime.expiry.FactExpiry;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.flink.state.ChunkMigration;
import io.github.gpujoin.flink.state.EndedDimensions;
import io.github.gpujoin.flink.state.EventTimeLog;
import io.github.gpujoin.flink.state.ExactlyOnce;
import io.github.gpujoin.flink.state.JoinMetadata;
import io.github.gpujoin.flink.state.PartitionDivider;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.flink.state.ProbeLog;
import io.github.gpujoin.flink.state.ReplicaCopies;
import java.util.Set;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Joins chunks of facts (input 2) with chunks of any number of dimensions (input 1). Those of a
 * versioned dimension come with the facts.
 *
 * <p>In {@link JoinPhase#LOAD} build chunks go to the log in state and to the engine, and facts
 * wait in state. The phase ends when {@link LoadProgress} has all dimensions complete, or with the
 * end of input 1. In {@link JoinPhase#JOIN} facts go to the engine and results to the output
 * ({@link ProbeSide}), and changes of a dimension that {@linkplain DimensionSpec#isChangelog()
 * changes} to the log and the engine, behind the facts that it has.
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

    private static final int BUILD_INPUT = 0;

    private final JoinSettings settings;
    private final ResultEmitterFactory<OUT> emitterFactory;

    private final transient MailboxExecutor mailbox;
    private final transient OperatorEventGateway coordinator;

    private transient AssignedGpu gpu;
    private transient AnnouncedCheckpoints checkpoints;
    private transient ChunkReceiver chunks;
    private transient InputHold senders;
    private transient ArrivingColumnCheck arriving;
    private transient RowCounts rows;
    private transient JoinEngine engine;
    private transient EnginePolls polls;
    private transient EngineStatus engineInUse;
    private transient AutoCloseable engineMemory;
    private transient ResultEmitter<OUT> emitter;
    private transient ProbeLog probeLog;
    private transient LoadProgress progress;

    /** Null if no dimension is replayed. */
    private transient ReplicaCopies copies;

    /** Whether the restored snapshot is of {@link JoinPhase#JOIN}. */
    private transient boolean wasComplete;

    private transient LateRows lateRows;
    private transient BuildSide buildSide;
    private transient TableBuild tableBuild;
    private transient ProbeSide probeSide;
    private transient VersionedProbes<OUT> versioned;
    private transient SubtaskCounts counts;
    private transient JoinMetrics metrics;

    StarJoinOperator(
            StreamOperatorParameters<OUT> parameters,
            JoinSettings settings,
            ResultEmitterFactory<OUT> emitterFactory) {
        super(parameters);
        this.settings = settings;
        this.emitterFactory = emitterFactory;
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
        ExactlyOnce.requireAtStart(getContainingTask().getEnvironment().getJobConfiguration());
        JoinSpec spec = settings.spec();
        PartitionKeys keys = partitionKeys();
        int partitioned = settings.reporting().plan().partitionedDimension();
        ChunkMigration migration =
                new JoinMetadata(
                                context.getOperatorStateStore(),
                                spec,
                                settings.columns(),
                                settings.partitions(),
                                partitioned)
                        .checkAndWrite(getUserCodeClassloader());
        gpu = new AssignedGpu(getRuntimeContext());
        if (!settings.replicas().isEmpty()) {
            copies =
                    new ReplicaCopies(
                            spec,
                            settings.replicas().dimensions(),
                            settings.engines().mayReadAgain(gpu));
        }
        BuildLog buildLog = new BuildLog(context, spec, keys, copies, this::setCurrentKey);
        buildLog.migrate(migration);
        if (context.isRestored()) {
            buildLog.checkKeys(settings.columns().keyCheck());
        }
        probeLog =
                new ProbeLog(
                        context.getKeyedStateStore(), keys, this::setCurrentKey, spec.factSchema());
        probeLog.migrate(migration);
        SlotMemory memory = SlotMemory.of(getContainingTask().getEnvironment(), config);
        chunks =
                ChunkReceiver.open(
                        config.getInPhysicalEdges(getUserCodeClassloader()),
                        getContainingTask().getEnvironment(),
                        settings.rings().onDevice(gpu::numberOr),
                        coordinator,
                        memory,
                        getContainingTask()::isCanceled);
        arriving = new ArrivingColumnCheck(settings.columns());
        rows = new RowCounts(this);
        TypeSerializer<?> results = config.getTypeSerializerOut(getUserCodeClassloader());
        if (results instanceof ChunkSerializer) {
            output = new RowCountingOutput<>(output, rows);
        }
        checkpoints =
                new AnnouncedCheckpoints(
                        getContainingTask().getEnvironment().getOperatorCoordinatorEventGateway(),
                        getOperatorID(),
                        getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
        senders =
                new InputHold(
                        chunks.factSenders(), () -> checkpoints.announced(ProbeSide.MAX_WAIT_MS));
        metrics = new JoinMetrics(getMetricGroup(), settings.reporting().metrics());
        EngineOpener.Opened opened =
                new EngineOpener(
                                spec,
                                settings.engines(),
                                getOperatorName(),
                                getOperatorID(),
                                getRuntimeContext(),
                                memory.forTables(
                                        chunks.ringBytes(), settings.engines().slotMemoryBytes()),
                                reason -> metrics.fallbacks(reason).inc())
                        .open(keys, buildLog, gpu);
        engine = opened.engine();
        engineInUse = opened.inUse();
        engineMemory = opened.memory();
        polls =
                new EnginePolls(
                        engine,
                        getContainingTask()
                                .getEnvironment()
                                .getMetricGroup()
                                .getIOMetricGroup()
                                .getIdleTimeMsPerSecond());
        metrics.rings(chunks.ringBytes());
        metrics.engine(engineInUse, opened.names(), keys.ownPartitions().getNumberOfKeyGroups());
        counts =
                new SubtaskCounts(
                        spec,
                        settings.reporting().plan(),
                        settings.partitions(),
                        getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks());
        metrics.rows(counts, spec.dimensions().stream().map(DimensionSpec::name).toList());
        metrics.results(engine, probeLog);
        emitter = emitterFactory.create(getRuntimeContext());
        UnmatchedBuildRows<OUT> unmatched =
                UnmatchedBuildRows.of(
                        emitter,
                        context.getKeyedStateStore(),
                        keys,
                        this::setCurrentKey,
                        buildLog.reader(),
                        output);
        probeSide =
                new ProbeSide(
                        engine,
                        probeLog,
                        spilledFacts(),
                        unmatched,
                        this::createPump,
                        mailbox,
                        new FactExpiry(
                                settings.ttls().factsMs(),
                                probeLog,
                                getProcessingTimeService(),
                                metrics.expiredFacts()),
                        counts.times(),
                        this::checkNotCancelled,
                        () -> checkpoints.isAnnounced(ProbeSide.MAX_WAIT_MS),
                        new OutputRoom(getContainingTask().getEnvironment()),
                        senders,
                        chunks.factSenders().size(),
                        getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks(),
                        factDivider(partitioned, keys));
        DimensionExpiry expiry =
                new DimensionExpiry(
                        settings.ttls().dimensions(),
                        buildLog::expire,
                        keys,
                        this::isBuilding,
                        this::awaitEngine,
                        chunk -> buildSide.delete(chunk),
                        getProcessingTimeService(),
                        mailbox,
                        metrics.expiredRows());
        buildSide =
                new BuildSide(
                        engine,
                        buildLog,
                        unmatched,
                        expiry,
                        new ReplicaLimit(spec, settings.replicas()),
                        counts,
                        buildDivider(partitioned, keys),
                        this::checkNotCancelled);
        tableBuild = new TableBuild(engine, mailbox, this::onBuilt);
        progress =
                new LoadProgress(
                        LoadProgress.awaited(
                                spec.dimensions().size(),
                                settings.eventTime() == null
                                        ? -1
                                        : settings.eventTime().dimension()),
                        settings.replicas().dimensions(),
                        keys.ownPartitions(),
                        new EndedDimensions(
                                context.getKeyedStateStore(), keys, this::setCurrentKey));
        lateRows =
                new LateRows(
                        spec,
                        settings.lateRows(),
                        output,
                        metrics.lateDimensionRows(),
                        getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0);
        if (settings.eventTime() != null) {
            EventTimeLog eventTimeLog =
                    new EventTimeLog(context.getKeyedStateStore(), spec, keys, this::setCurrentKey);
            eventTimeLog.migrate(migration);
            versioned =
                    new VersionedProbes<>(
                            spec,
                            settings.eventTime(),
                            eventTimeLog,
                            probeSide,
                            buildSide::append,
                            this::checkNotCancelled,
                            mailbox,
                            output,
                            metrics);
        }
        if (context.isRestored()) {
            restore(migration.readAgain());
        }
    }

    /** Null if facts are never sent by the key of a dimension. */
    private PartitionDivider factDivider(int partitioned, PartitionKeys keys) {
        JoinSpec spec = settings.spec();
        MeasuredDimension measured = settings.replicas().measured();
        int dimension = measured == null ? partitioned : measured.number();
        return dimension == JoinExplanation.NONE
                ? null
                : new PartitionDivider(
                        keys, spec.factSchema(), spec.dimensions().get(dimension).factKeyColumn());
    }

    /** Null if no dimension is partitioned. */
    private PartitionDivider buildDivider(int partitioned, PartitionKeys keys) {
        if (partitioned == JoinExplanation.NONE) {
            return null;
        }
        DimensionSpec dimension = settings.spec().dimensions().get(partitioned);
        return new PartitionDivider(keys, dimension.schema(), dimension.keyColumn());
    }

    /** Null where all build rows always have tables. */
    private DeferredProbes spilledFacts() {
        if (!(engineInUse instanceof DividedEngine divided)) {
            return null;
        }
        DeferredProbes spilled =
                new DeferredProbes(
                        divided.engine(),
                        probeLog,
                        getProcessingTimeService(),
                        settings.engines().division().spillDelayMs(),
                        () -> probeSide.postMail());
        metrics.divided(divided, spilled::waitingBytes);
        return spilled;
    }

    private PartitionKeys partitionKeys() {
        TaskInfo task = getRuntimeContext().getTaskInfo();
        int maxParallelism = task.getMaxNumberOfParallelSubtasks();
        if (maxParallelism != settings.partitions()) {
            throw new IllegalStateException(
                    "there is one radix partition for each key group, so the maximum parallelism is"
                            + " set before the join is built: partitions="
                            + settings.partitions()
                            + ", maxParallelism="
                            + maxParallelism);
        }
        return new PartitionKeys(
                maxParallelism, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
    }

    private ResultPump createPump(ThrowingConsumer<Chunk, Exception> onChunkCompleted) {
        ResultEmitter<OUT> timed = new TimedEmitter<>(emitter, counts.times());
        if (!settings.spec().isAggregating()) {
            int warnFrom = settings.reporting().fanOutWarning();
            FanOutMonitor fanOut =
                    new FanOutMonitor(
                            getOperatorName(), settings.spec(), counts.buildKeys(), warnFrom);
            metrics.fanOut(fanOut);
            return new RowPump<>(
                    polls, timed, output, onChunkCompleted, fanOut, this::checkNotCancelled);
        }
        return new GroupPump<>(
                engine,
                polls,
                timed,
                output,
                onChunkCompleted,
                this::checkNotCancelled,
                getProcessingTimeService(),
                settings.groupIntervalMs());
    }

    /**
     * Takes up in the phase of the snapshot: inputs that were complete may not say so again.
     * Replicated dimensions are replayed first.
     */
    private void restore(Set<Integer> readAgain) throws Exception {
        progress.restore(readAgain);
        buildSide.restore(settings.engines().division());
        wasComplete = buildSide.wasComplete();
        probeSide.restore(!wasComplete);
        if (versioned != null) {
            versioned.restore();
        }
        boolean awaitsReplay = !settings.replicas().isEmpty() && !progress.isOfEarlierRelease();
        // A snapshot may have been taken while tables were made of all rows.
        if (!awaitsReplay && (wasComplete || progress.isComplete())) {
            startJoining();
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        checkpoints.start();
    }

    AnnouncedCheckpoints checkpoints() {
        return checkpoints;
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        super.notifyCheckpointAborted(checkpointId);
        checkpoints.ended(checkpointId);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        polls.interrupted();
        probeSide.flush();
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        ExactlyOnce.declineUnaligned(
                getContainingTask().getEnvironment(), context.getCheckpointId());
        checkpoints.ended(context.getCheckpointId());
        progress.snapshot();
        buildSide.snapshot();
        probeSide.snapshot();
        if (versioned != null) {
            versioned.snapshot();
        }
    }

    @Override
    public void endInput(int inputId) throws Exception {
        if (inputId - 1 == BUILD_INPUT) {
            // Comes again after a restore with a finished source.
            requireReplayed();
            startJoining();
        } else if (versioned == null) {
            probeSide.ended();
        }
    }

    /** The operator that replays ends after the facts and versions, so none may wait then. */
    private void requireReplayed() {
        long waitingRows = versioned == null ? 0 : versioned.waitingRows();
        boolean waits = !probeLog.isEmpty() || waitingRows > 0;
        if (waits && !progress.isReplayed() && !progress.isOfEarlierRelease()) {
            throw new IllegalStateException(
                    "Replicated dimensions were not replayed: waiting fact chunks=%d, rows waiting for event time=%d.\nRestore an earlier checkpoint and report this."
                            .formatted(probeLog.size(), waitingRows));
        }
    }

    @Override
    public void finish() throws Exception {
        tableBuild.await(this::checkNotCancelled);
        if (versioned != null) {
            versioned.finish();
            probeSide.ended();
        }
        probeSide.drain(this::checkNotCancelled);
        super.finish();
    }

    private void checkNotCancelled() {
        if (getContainingTask().isCanceled()) {
            throw new CancelTaskException(
                    "The task was cancelled while it waited for tables or results.");
        }
    }

    @Override
    public void close() throws Exception {
        // The emitter holds addresses of the engine's memory and goes first.
        IOUtils.closeAll(
                checkpoints,
                senders,
                chunks,
                emitter,
                engine,
                copies,
                engineMemory,
                gpu,
                super::close);
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void processElement1(StreamRecord<Chunk> element) throws Exception {
        if (LoadMark.isMark(element.getValue())) {
            rows.received(element.getValue());
            progress.accept(LoadMark.of(element.getValue()));
            if (wasComplete ? progress.isReplayed() : progress.isComplete()) {
                startJoining();
            }
            return;
        }
        long startNs = System.nanoTime();
        polls.interrupted();
        Chunk chunk = chunks.build(element.getValue());
        arriving.check(chunk);
        rows.received(chunk, element.getValue());
        counts.times().addSince(Stage.RECEIVE, startNs);
        if (isLate(chunk.dimension())) {
            lateRows.accept(chunk, "all dimensions complete");
            return;
        }
        // Facts that the engine has came before a change.
        probeSide.awaitEngine(this::checkNotCancelled);
        buildSide.append(chunk);
    }

    /** Whether a row that arrives now follows the end of its dimension. */
    private boolean isLate(int dimension) {
        boolean wasLoaded = wasComplete && !settings.replicas().dimensions().contains(dimension);
        return (isLoadComplete() || wasLoaded)
                && !settings.spec().dimensions().get(dimension).isChangelog();
    }

    private void awaitEngine() throws Exception {
        tableBuild.await(this::checkNotCancelled);
        probeSide.awaitEngine(this::checkNotCancelled);
    }

    /** Says nothing, unless the restored snapshot does not hold which dimensions had ended. */
    @Override
    public void processWatermark1(Watermark mark) throws Exception {
        if (mark.getTimestamp() == Long.MAX_VALUE && progress.isOfEarlierRelease()) {
            startJoining();
        }
    }

    /** Has the tables made, in mails; facts wait as in LOAD until they are complete. */
    private void startJoining() throws Exception {
        if (!isLoadComplete()) {
            buildSide.startBuild();
            tableBuild.start();
        }
    }

    /** Whether tables are being made, in mails. */
    boolean isBuilding() {
        return tableBuild.isRunning();
    }

    private boolean isLoadComplete() {
        return isBuilding() || probeSide.phase() == JoinPhase.JOIN;
    }

    private void onBuilt() throws Exception {
        long builtMs = buildSide.complete();
        LOG.info(
                "{}\n  table bytes={}, table build took {} ms, fact chunks that waited={}",
                RunReport.of(
                        plan(), getRuntimeContext().getTaskInfo(), engineInUse, counts.build()),
                engine.stats().tableBytes(),
                builtMs,
                probeLog.size());
        probeSide.startJoining();
        if (versioned != null) {
            versioned.advance();
        }
    }

    /** As it is known when all dimensions are complete. */
    private JoinExplanation plan() {
        JoinExplanation plan = settings.reporting().plan();
        MeasuredDimension measured = settings.replicas().measured();
        if (measured == null) {
            return plan;
        }
        return plan.measured(
                measured.number(),
                progress.isPartitioned(measured.number())
                        ? Distribution.PARTITIONED
                        : Distribution.REPLICATED);
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public void processElement2(StreamRecord<Chunk> element) throws Exception {
        long startNs = System.nanoTime();
        polls.interrupted();
        Chunk chunk = chunks.probe(element.getValue());
        arriving.check(chunk);
        rows.received(chunk, element.getValue());
        counts.times().addSince(Stage.RECEIVE, startNs);
        if (versioned == null) {
            counts.probeChunk(chunk);
            probeSide.accept(chunk);
            return;
        }
        if (chunk.dimension() == ChunkDescriptor.FACTS) {
            counts.probeChunk(chunk);
        }
        versioned.accept(chunk);
    }

    @Override
    public void processWatermark2(Watermark mark) throws Exception {
        if (versioned != null) {
            versioned.accept(mark);
        } else {
            probeSide.accept(mark);
        }
    }

    @Override
    public void processLatencyMarker2(LatencyMarker marker) throws Exception {
        latencyStats.reportLatency(marker);
        acceptOther(marker);
    }

    @Override
    public void processWatermark2(WatermarkEvent mark) throws Exception {
        acceptOther(new WatermarkElement(mark));
    }

    private void acceptOther(StreamElement element) throws Exception {
        if (versioned != null) {
            versioned.acceptOther(element);
        } else {
            probeSide.acceptOther(element);
        }
    }

    /** Idleness of facts is passed on in order; {@link LoadMark} has that of the build side. */
    @Override
    protected void processWatermarkStatus(WatermarkStatus status, int index) throws Exception {
        if (index == BUILD_INPUT) {
            return;
        }
        if (versioned != null) {
            versioned.accept(status);
        } else {
            probeSide.accept(status);
        }
    }

    // ------------------------------------------------------------------ keys

    /** The key of a chunk is set where state is touched: a broadcast chunk has none of its own. */
    @Override
    public void setKeyContextElement1(StreamRecord record) {}

    @Override
    public void setKeyContextElement2(StreamRecord record) {}
}
