// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import io.github.gpujoin.flink.exchange.RowCountingOutput;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.runtime.distribution.DistributionClient;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import io.github.gpujoin.flink.runtime.expiry.DimensionExpiry;
import io.github.gpujoin.flink.state.ChunkMigration;
import io.github.gpujoin.flink.state.EndedDimensions;
import io.github.gpujoin.flink.state.JoinMetadata;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.flink.state.ReplicaLog;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Logs the chunks of replicated dimensions before they are broadcast to the join, so that a
 * checkpoint holds one copy of them. Each attempt replays the log, in mails of 10 ms. Chunks that
 * arrive during the replay follow the logged chunks of their partition. Once the log is replayed
 * and all dimensions are complete, the operator sends {@link LoadMark}s to the join. Rows that
 * arrive after all dimensions are complete are late, except for those of a changelog dimension.
 *
 * <p>If a dimension is distributed by its measured size, the replay waits until the coordinator has
 * decided. A dimension that stays partitioned is emitted to the owners of its partitions.
 *
 * <p>The join's tables at a barrier hold the log's rows at the barrier: a chunk is logged and
 * emitted in one call, and all edges into this operator and into the join are checkpointed aligned.
 *
 * <p>Flink drops the state of a subtask that has finished. The packers of all dimensions, of facts
 * and of versions are connected to every subtask here, so a subtask finishes only after all of
 * them. The last checkpoint before that holds no fact that the join has yet to join. See
 * docs/decisions/0001.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class ReplicaOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    private static final long MAIL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long WAIT_NS = TimeUnit.MICROSECONDS.toNanos(500);

    private static final OutputTag<Chunk> PARTITIONS =
            MeasuredDimension.partitions(TypeInformation.of(Chunk.class));

    private final ReplicaSettings settings;
    private final transient MailboxExecutor mailbox;
    private transient ReplicaLog log;
    private transient LoadProgress progress;
    private transient DimensionExpiry expiry;
    private transient LateRows lateRows;
    private transient RowCounts rows;

    /** Null if no dimension is measured. */
    private transient @Nullable DistributionClient distributionClient;

    /**
     * Distribution of the measured dimension, {@link Distribution#REPLICATED} if there is none. The
     * replay waits while it is {@link Distribution#MEASURED}.
     */
    private transient Distribution distribution;

    /** Whether all dimensions are complete, in this attempt or an earlier one. */
    private transient boolean complete;

    /** Whether this attempt has sent the marks. */
    private transient boolean marked;

    ReplicaOperator(StreamOperatorParameters<Chunk> parameters, ReplicaSettings settings) {
        super(parameters);
        this.settings = settings;
        this.mailbox = parameters.getMailboxExecutor();
    }

    // ------------------------------------------------------------------ life cycle

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        TaskInfo task = getRuntimeContext().getTaskInfo();
        PartitionKeys keys =
                new PartitionKeys(
                        task.getMaxNumberOfParallelSubtasks(),
                        task.getNumberOfParallelSubtasks(),
                        task.getIndexOfThisSubtask());
        MeasuredDimension measured = settings.replicas().measured();
        distribution = measured == null ? Distribution.REPLICATED : Distribution.MEASURED;
        log =
                new ReplicaLog(
                        context.getKeyedStateStore(),
                        settings.spec(),
                        measured == null ? ReplicaLog.NONE : measured.number(),
                        settings.partitions(),
                        keys,
                        this::setCurrentKey);
        ChunkMigration migration =
                new JoinMetadata(
                                context.getOperatorStateStore(),
                                settings.spec(),
                                settings.columns(),
                                settings.partitions(),
                                settings.partitionedDimension())
                        .checkAndWrite(getUserCodeClassloader());
        log.migrate(migration);
        progress =
                new LoadProgress(
                        List.copyOf(settings.replicas().dimensions()),
                        Set.of(),
                        keys.ownPartitions(),
                        new EndedDimensions(
                                context.getKeyedStateStore(), keys, this::setCurrentKey));
        expiry =
                new DimensionExpiry(
                        settings.ttls(),
                        log::expire,
                        keys,
                        () -> false,
                        () -> {},
                        this::emit,
                        getProcessingTimeService(),
                        mailbox,
                        getMetricGroup().addGroup("gpuJoin").counter("expiredRows"));
        lateRows =
                new LateRows(
                        settings.spec(),
                        settings.lateRows(),
                        output,
                        getMetricGroup().counter("lateDimensionRows"),
                        true);
        if (context.isRestored()) {
            log.checkKeys(settings.columns().keyCheck());
            progress.restore(migration.readAgain());
            complete = log.isComplete();
            // Dimensions that are not read again may report their end only once.
            if (!complete && !migration.readAgain().isEmpty() && progress.isComplete()) {
                complete = true;
                log.setComplete();
            }
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        rows = new RowCounts(this);
        output = new RowCountingOutput<>(output, rows);
        log.bytes().register(getMetricGroup().addGroup("gpuJoin"));
        for (StreamEdge input : config.getInPhysicalEdges(getUserCodeClassloader())) {
            requireAligned(input);
        }
        if (settings.replicas().measured() == null) {
            mailbox.execute(this::replaySome, "replay replicated dimensions");
            return;
        }
        distributionClient =
                new DistributionClient(
                        getContainingTask().getEnvironment().getOperatorCoordinatorEventGateway(),
                        getOperatorID(),
                        getRuntimeContext().getTaskInfo(),
                        settings.replicas().measured(),
                        () -> mailbox.execute(this::adoptDistribution, "distribute the dimension"));
        mailbox.execute(this::report, "report the measured size");
    }

    /** Rejects an unaligned edge: in its checkpoints, an input could end for some subtasks only. */
    private static void requireAligned(StreamEdge input) {
        if (input.supportsUnalignedCheckpoints()) {
            throw new IllegalStateException(
                    "Edge into the log of replicated dimensions is checkpointed unaligned: edge=%s. Report this."
                            .formatted(input));
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        // The largest watermark must still complete the dimensions of a snapshot of release 0.1.0.
        if (complete || !progress.isOfEarlierRelease()) {
            progress.snapshot();
        }
        log.snapshot();
    }

    @Override
    public void finish() throws Exception {
        awaitDistribution();
        while (!log.isReplayed()) {
            replayNext();
            checkNotCancelled();
        }
        markComplete();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(distributionClient, super::close);
    }

    // ------------------------------------------------------------------ distribution

    private void report() throws Exception {
        if (distribution == Distribution.MEASURED) {
            distributionClient.report(log.measuredBytes(), complete);
        }
    }

    /** Starts the replay once the coordinator has decided how the dimension is distributed. */
    private void adoptDistribution() throws Exception {
        if (distribution == Distribution.MEASURED && distributionClient.answer() != distribution) {
            distribution = distributionClient.answer();
            replaySome();
        }
    }

    /**
     * Waits for the decision at the end of all inputs, when every subtask reports its final size.
     */
    private void awaitDistribution() throws Exception {
        if (distribution == Distribution.MEASURED) {
            report();
            while (distributionClient.answer() == Distribution.MEASURED) {
                LockSupport.parkNanos(WAIT_NS);
                checkNotCancelled();
            }
            distribution = distributionClient.answer();
        }
    }

    private void checkNotCancelled() {
        if (getContainingTask().isCanceled()) {
            throw new CancelTaskException("The task was cancelled while it finished.");
        }
    }

    private boolean isPartitioned(int dimension) {
        return distribution == Distribution.PARTITIONED
                && settings.replicas().isMeasured(dimension);
    }

    // ------------------------------------------------------------------ replay

    private void replaySome() throws Exception {
        long deadlineNs = System.nanoTime() + MAIL_NS;
        while (!log.isReplayed() && System.nanoTime() - deadlineNs < 0) {
            replayNext();
        }
        if (log.isReplayed()) {
            markComplete();
        } else {
            mailbox.execute(this::replaySome, "replay replicated dimensions");
        }
    }

    private void replayNext() throws Exception {
        Chunk chunk = log.replayNext(expiry::restored);
        if (chunk != null) {
            emit(chunk);
        }
    }

    // ------------------------------------------------------------------ chunks

    @Override
    public void processElement(StreamRecord<Chunk> element) throws Exception {
        Chunk chunk = element.getValue();
        rows.received(chunk);
        if (LoadMark.isMark(chunk)) {
            progress.accept(LoadMark.of(chunk));
            if (progress.isComplete()) {
                setComplete();
            }
            return;
        }
        if (complete && !settings.spec().dimensions().get(chunk.dimension()).isChangelog()) {
            lateRows.accept(chunk, "all replicated dimensions complete");
            return;
        }
        Chunk stamped = expiry.stamped(chunk);
        if (log.append(stamped)) {
            emit(stamped);
        }
        if (settings.replicas().isMeasured(chunk.dimension())) {
            report();
        }
    }

    private void emit(Chunk chunk) {
        if (isPartitioned(chunk.dimension())) {
            emitToOwner(chunk);
            return;
        }
        Chunk emitted =
                chunk.partition() == ChunkDescriptor.UNPARTITIONED
                        ? chunk
                        : chunk.withPartition(ChunkDescriptor.UNPARTITIONED);
        output.collect(new StreamRecord<>(emitted));
    }

    private void emitToOwner(Chunk chunk) {
        if (chunk.partition() == ChunkDescriptor.UNPARTITIONED) {
            throw new IllegalStateException(
                    "Chunk without a partition: partitioned dimension=%s.\nRestore an earlier checkpoint and report this."
                            .formatted(settings.replicas().measured().name()));
        }
        output.collect(PARTITIONS, new StreamRecord<>(chunk));
    }

    private void setComplete() throws Exception {
        if (!complete) {
            complete = true;
            log.setComplete();
            report();
        }
        markComplete();
    }

    /** Sends marks to the join, once all dimensions are complete and the log is replayed. */
    private void markComplete() {
        if (!complete || marked || !log.isReplayed()) {
            return;
        }
        marked = true;
        TaskInfo task = getRuntimeContext().getTaskInfo();
        for (int dimension : settings.replicas().dimensions()) {
            if (isPartitioned(dimension)) {
                // No other subtask has rows of the partition.
                log.partitions().forEach(partition -> mark(dimension, partition, 0, 1));
            } else {
                mark(
                        dimension,
                        ChunkDescriptor.UNPARTITIONED,
                        task.getIndexOfThisSubtask(),
                        task.getNumberOfParallelSubtasks());
            }
        }
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    private void mark(int dimension, int partition, int subtask, int parallelism) {
        LoadMark mark = new LoadMark(dimension, partition, subtask, parallelism, Status.COMPLETE);
        emit(mark.toChunk(settings.spec().dimensions().get(dimension).schema()));
    }

    /**
     * Ignores watermarks. Only if the restored snapshot lacks {@link EndedDimensions} does the last
     * watermark complete the dimensions.
     */
    @Override
    public void processWatermark(Watermark mark) throws Exception {
        if (mark.getTimestamp() == Long.MAX_VALUE && progress.isOfEarlierRelease()) {
            setComplete();
        }
    }

    /** Does nothing: {@link LoadMark}s carry idleness, and an idle dimension is not complete. */
    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}

    /** Does nothing: the log sets the key when it accesses state. */
    @Override
    public void setKeyContextElement(StreamRecord<Chunk> record) {}
}
