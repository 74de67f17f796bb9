// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.engine.DividedEngine;
import io.github.gpujoin.flink.engine.EngineOpener;
import io.github.gpujoin.flink.engine.EngineStatus;
import io.github.gpujoin.flink.engine.SlotMemory;
import io.github.gpujoin.flink.exchange.RowCountingOutput;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.backpressure.InputHold;
import io.github.gpujoin.flink.exchange.backpressure.OutputRoom;
import io.github.gpujoin.flink.exchange.ring.AnnouncedCheckpoints;
import io.github.gpujoin.flink.metrics.FanOutMonitor;
import io.github.gpujoin.flink.metrics.JoinMetrics;
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
import io.github.gpujoin.flink.state.JoinMetadata;
import io.github.gpujoin.flink.state.PartitionDivider;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.flink.state.ProbeLog;
import io.github.gpujoin.flink.state.ReplicaCopies;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * The parts of one subtask of a join. Makes each of them once, in the order state, inputs, engine,
 * probes, build; connects them; and closes them. A failure in between leaves the parts made so far
 * to {@link #close}.
 *
 * <p>Used by the task's mailbox thread.
 */
final class JoinSubtask<OUT> implements AutoCloseable {

    private final AbstractStreamOperator<OUT> operator;
    private final String name;
    private final MailboxExecutor mailbox;
    private final OperatorEventGateway coordinator;
    private final JoinSettings settings;
    private final JoinSpec spec;
    private final Environment environment;
    private final StreamingRuntimeContext runtime;
    private final TaskInfo task;
    private final PartitionKeys keys;
    private Output<StreamRecord<OUT>> output;

    private AssignedGpu gpu;
    private ReplicaCopies copies;
    private ChunkMigration migration;
    private BuildLog buildLog;
    private ProbeLog probeLog;

    private SlotMemory memory;
    private ChunkReceiver chunks;
    private ArrivingColumnCheck arriving;
    private RowCounts rows;
    private AnnouncedCheckpoints checkpoints;
    private InputHold senders;

    private JoinMetrics metrics;
    private JoinEngine engine;
    private EngineStatus engineStatus;
    private AutoCloseable engineMemory;
    private EnginePolls polls;
    private SubtaskCounts counts;

    private ResultEmitter<OUT> emitter;
    private UnmatchedBuildRows<OUT> unmatched;
    private ProbeSide probeSide;
    private BuildSide buildSide;
    private ProbePath probes;
    private BuildInput build;

    /**
     * @param name of the operator
     * @param output of the operator
     * @param coordinator of the operator
     * @throws IllegalStateException if the maximum parallelism is not the number of partitions
     */
    JoinSubtask(
            AbstractStreamOperator<OUT> operator,
            String name,
            Output<StreamRecord<OUT>> output,
            MailboxExecutor mailbox,
            OperatorEventGateway coordinator,
            JoinSettings settings) {
        this.operator = operator;
        this.name = name;
        this.output = output;
        this.mailbox = mailbox;
        this.coordinator = coordinator;
        this.settings = settings;
        this.spec = settings.spec();
        this.environment = operator.getContainingTask().getEnvironment();
        this.runtime = operator.getRuntimeContext();
        this.task = runtime.getTaskInfo();
        this.keys = partitionKeys();
    }

    private PartitionKeys partitionKeys() {
        int maxParallelism = task.getMaxNumberOfParallelSubtasks();
        if (maxParallelism != settings.partitions()) {
            throw new IllegalStateException(
                    "Maximum parallelism changed after the join was built: partitions=%d, maxParallelism=%d. Set it before."
                            .formatted(settings.partitions(), maxParallelism));
        }
        return new PartitionKeys(
                maxParallelism, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
    }

    /** Makes and connects all parts, and restores them. */
    void open(StateInitializationContext context, ResultEmitterFactory<OUT> emitters)
            throws Exception {
        openState(context);
        openInputs();
        openEngine();
        openProbes(context, emitters.create(runtime));
        openBuild(context);
        if (context.isRestored()) {
            build.restore(migration.readAgain());
        }
    }

    // ------------------------------------------------------------------ parts

    private void openState(StateInitializationContext context) throws Exception {
        migration =
                new JoinMetadata(
                                context.getOperatorStateStore(),
                                spec,
                                settings.columns(),
                                settings.partitions(),
                                settings.reporting().plan().partitionedDimension())
                        .checkAndWrite(operator.getUserCodeClassloader());
        gpu = new AssignedGpu(runtime);
        copies =
                new ReplicaCopies(
                        spec,
                        settings.replicas().dimensions(),
                        settings.engines().mayReadAgain(gpu));
        buildLog = new BuildLog(context, spec, keys, copies, operator::setCurrentKey);
        buildLog.migrate(migration);
        if (context.isRestored()) {
            buildLog.checkKeys(settings.columns().keyCheck());
        }
        probeLog =
                new ProbeLog(
                        context.getKeyedStateStore(),
                        keys,
                        operator::setCurrentKey,
                        spec.factSchema());
        probeLog.migrate(migration);
    }

    private void openInputs() throws Exception {
        StreamConfig config = operator.getOperatorConfig();
        ClassLoader userCode = operator.getUserCodeClassloader();
        memory = SlotMemory.of(environment, config);
        chunks =
                ChunkReceiver.open(
                        config.getInPhysicalEdges(userCode),
                        environment,
                        settings.rings().onDevice(gpu::numberOr),
                        coordinator,
                        memory,
                        operator.getContainingTask()::isCanceled);
        arriving = new ArrivingColumnCheck(settings.columns());
        rows = new RowCounts(operator);
        TypeSerializer<?> results = config.getTypeSerializerOut(userCode);
        if (results instanceof ChunkSerializer) {
            output = new RowCountingOutput<>(output, rows);
        }
        checkpoints =
                new AnnouncedCheckpoints(
                        environment.getOperatorCoordinatorEventGateway(),
                        operator.getOperatorID(),
                        task.getIndexOfThisSubtask());
        senders =
                new InputHold(
                        chunks.factSenders(), () -> checkpoints.announced(ProbeSide.MAX_WAIT_MS));
    }

    private void openEngine() {
        metrics = new JoinMetrics(operator.getMetricGroup(), settings.reporting().metrics());
        EngineOpener.Opened opened =
                new EngineOpener(
                                spec,
                                settings.engines(),
                                name,
                                operator.getOperatorID(),
                                runtime,
                                memory.forTables(
                                        chunks.ringBytes(), settings.engines().slotMemoryBytes()),
                                reason -> metrics.fallbacks(reason).inc())
                        .open(keys, buildLog, gpu);
        engine = opened.engine();
        engineStatus = opened.status();
        engineMemory = opened.memory();
        polls =
                new EnginePolls(
                        engine,
                        environment.getMetricGroup().getIOMetricGroup().getIdleTimeMsPerSecond());
        counts =
                new SubtaskCounts(
                        spec,
                        settings.reporting().plan(),
                        settings.partitions(),
                        task.getNumberOfParallelSubtasks());
        metrics.rings(chunks.ringBytes());
        metrics.engine(engineStatus, opened.names(), keys.ownPartitions().getNumberOfKeyGroups());
        metrics.rows(counts, spec.dimensions().stream().map(DimensionSpec::name).toList());
        metrics.results(engine, probeLog);
    }

    private void openProbes(StateInitializationContext context, ResultEmitter<OUT> results) {
        emitter = results;
        unmatched =
                UnmatchedBuildRows.of(
                        emitter,
                        context.getKeyedStateStore(),
                        keys,
                        operator::setCurrentKey,
                        buildLog.reader(),
                        output);
        probeSide =
                new ProbeSide(
                        engine,
                        probeLog,
                        probeDeferral(),
                        unmatched,
                        this::createPump,
                        mailbox,
                        new FactExpiry(
                                settings.ttls().factsMs(),
                                probeLog,
                                operator.getProcessingTimeService(),
                                metrics.expiredFacts()),
                        counts.times(),
                        this::checkNotCancelled,
                        () -> checkpoints.isAnnounced(ProbeSide.MAX_WAIT_MS),
                        new OutputRoom(environment),
                        senders,
                        chunks.factSenders().size(),
                        task.getNumberOfParallelSubtasks(),
                        factDivider());
    }

    private ProbeDeferral probeDeferral() {
        if (!(engineStatus instanceof DividedEngine divided)) {
            return ProbeDeferral.NONE;
        }
        DeferredProbes deferred =
                new DeferredProbes(
                        divided.engine(),
                        probeLog,
                        operator.getProcessingTimeService(),
                        settings.engines().division().spillDelayMs(),
                        () -> probeSide.postMail());
        metrics.divided(divided, deferred::deferredBytes);
        return deferred;
    }

    private ResultPump createPump(ThrowingConsumer<Chunk, Exception> onChunkCompleted) {
        ResultEmitter<OUT> timed = new TimedEmitter<>(emitter, counts.times());
        if (!spec.isAggregating()) {
            FanOutMonitor fanOut =
                    new FanOutMonitor(
                            name, spec, counts.buildKeys(), settings.reporting().fanOutWarning());
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
                operator.getProcessingTimeService(),
                settings.groupIntervalMs());
    }

    /** Divides chunks of facts, if facts are sent by the key of a dimension now or at times. */
    private PartitionDivider factDivider() {
        MeasuredDimension measured = settings.replicas().measured();
        int dimension =
                measured == null
                        ? settings.reporting().plan().partitionedDimension()
                        : measured.number();
        return dimension == JoinExplanation.NONE
                ? PartitionDivider.none()
                : new PartitionDivider(
                        keys, spec.factSchema(), spec.dimensions().get(dimension).factKeyColumn());
    }

    private PartitionDivider buildDivider() {
        int partitioned = settings.reporting().plan().partitionedDimension();
        if (partitioned == JoinExplanation.NONE) {
            return PartitionDivider.none();
        }
        DimensionSpec dimension = spec.dimensions().get(partitioned);
        return new PartitionDivider(keys, dimension.schema(), dimension.keyColumn());
    }

    private void openBuild(StateInitializationContext context) throws Exception {
        buildSide =
                new BuildSide(
                        engine,
                        buildLog,
                        unmatched,
                        dimensionExpiry(),
                        new ReplicaLimit(spec, settings.replicas()),
                        counts,
                        buildDivider(),
                        this::checkNotCancelled);
        probes = settings.eventTime() == null ? probeSide : versionedProbes(context);
        LoadProgress progress =
                new LoadProgress(
                        LoadProgress.awaited(
                                spec.dimensions().size(),
                                settings.eventTime() == null
                                        ? -1
                                        : settings.eventTime().dimension()),
                        settings.replicas().dimensions(),
                        keys.ownPartitions(),
                        new EndedDimensions(
                                context.getKeyedStateStore(), keys, operator::setCurrentKey));
        LateRows lateRows =
                new LateRows(
                        spec,
                        settings.lateRows(),
                        output,
                        metrics.lateDimensionRows(),
                        task.getIndexOfThisSubtask() == 0);
        build =
                new BuildInput(
                        settings,
                        progress,
                        buildSide,
                        lateRows,
                        engine,
                        engineStatus,
                        probeSide,
                        probes,
                        probeLog,
                        counts,
                        task,
                        mailbox,
                        this::checkNotCancelled);
    }

    private DimensionExpiry dimensionExpiry() {
        return new DimensionExpiry(
                settings.ttls().dimensions(),
                buildLog::expire,
                keys,
                () -> build.isBuilding(),
                this::awaitEngine,
                chunk -> buildSide.delete(chunk),
                operator.getProcessingTimeService(),
                mailbox,
                metrics.expiredRows());
    }

    private void awaitEngine() throws Exception {
        build.awaitTables();
        probeSide.awaitEngine(this::checkNotCancelled);
    }

    private VersionedProbes<OUT> versionedProbes(StateInitializationContext context)
            throws Exception {
        EventTimeLog log =
                new EventTimeLog(context.getKeyedStateStore(), spec, keys, operator::setCurrentKey);
        log.migrate(migration);
        return new VersionedProbes<>(
                spec,
                settings.eventTime(),
                log,
                probeSide,
                buildSide::append,
                this::checkNotCancelled,
                mailbox,
                output,
                metrics);
    }

    private void checkNotCancelled() {
        if (operator.getContainingTask().isCanceled()) {
            throw new CancelTaskException(
                    "The task was cancelled while it waited for tables or results.");
        }
    }

    // ------------------------------------------------------------------ use

    /** The payload of a chunk of a dimension. */
    Chunk receiveBuild(Chunk sent) throws Exception {
        long startNs = System.nanoTime();
        polls.interrupted();
        return received(chunks.build(sent), sent, startNs);
    }

    /** The payload of a chunk of facts, or of versions. */
    Chunk receiveProbe(Chunk sent) throws Exception {
        long startNs = System.nanoTime();
        polls.interrupted();
        Chunk chunk = received(chunks.probe(sent), sent, startNs);
        if (chunk.dimension() == ChunkDescriptor.FACTS) {
            counts.probeChunk(chunk);
        }
        return chunk;
    }

    private Chunk received(Chunk chunk, Chunk sent, long startNs) {
        arriving.check(chunk);
        rows.received(chunk, sent);
        counts.times().addSince(Stage.RECEIVE, startNs);
        return chunk;
    }

    RowCounts rows() {
        return rows;
    }

    BuildInput build() {
        return build;
    }

    ProbePath probes() {
        return probes;
    }

    AnnouncedCheckpoints checkpoints() {
        return checkpoints;
    }

    /** Emits the results that the output should have before a barrier. */
    void flush() throws Exception {
        polls.interrupted();
        probeSide.flush();
    }

    void snapshot() throws Exception {
        build.snapshot();
        probes.snapshot();
    }

    /** Emits all results; both inputs have ended. */
    void finish() throws Exception {
        build.awaitTables();
        probes.finish();
    }

    @Override
    public void close() throws Exception {
        // The emitter holds addresses of the engine's memory, so it is closed before the engine.
        IOUtils.closeAll(checkpoints, senders, chunks, emitter, engine, copies, engineMemory, gpu);
    }
}
