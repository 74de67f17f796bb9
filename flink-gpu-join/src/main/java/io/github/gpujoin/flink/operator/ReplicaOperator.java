package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.checkpoint.ChunkMigration;
import io.github.gpujoin.flink.checkpoint.EndedDimensions;
import io.github.gpujoin.flink.checkpoint.JoinMetadata;
import io.github.gpujoin.flink.checkpoint.PartitionKeys;
import io.github.gpujoin.flink.checkpoint.ReplicaLog;
import io.github.gpujoin.flink.chunk.LoadMark;
import io.github.gpujoin.flink.chunk.LoadMark.Status;
import io.github.gpujoin.flink.chunk.RowCountingOutput;
import io.github.gpujoin.flink.chunk.RowCounts;
import io.github.gpujoin.flink.expiry.DimensionExpiry;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
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

/**
 * Logs the chunks of replicated dimensions before they are broadcast to the join, so that a
 * checkpoint holds one copy of them. Each attempt replays the log, in mails of a few milliseconds,
 * and then marks the dimensions complete once they are. Chunks that arrive during the replay follow
 * the logged chunks of their partition.
 *
 * <p>The join's tables at a barrier hold the log's rows at the barrier: a chunk is logged and
 * emitted in one call, and all edges into this operator and into the join are checkpointed aligned.
 *
 * <p>Flink drops the state of a subtask that has finished. The packers of the dimensions, of the
 * facts and of versions are connected to every subtask here, so a subtask finishes only after all
 * of them have ended, and the checkpoint that lets it finish holds no fact that is still to be
 * joined. See docs/decisions/0001.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class ReplicaOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    /** Time that one mail replays before others get their turn. */
    private static final long MAIL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ReplicaSettings settings;
    private final transient MailboxExecutor mailbox;
    private transient ReplicaLog log;
    private transient LoadProgress progress;
    private transient DimensionExpiry expiry;
    private transient LateRows lateRows;
    private transient RowCounts rows;

    /** Whether all dimensions are complete, in this attempt or one before. */
    private transient boolean complete;

    /** Whether this attempt has told the join so. */
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
        log =
                new ReplicaLog(
                        context.getKeyedStateStore(),
                        settings.spec(),
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
            // Dimensions that are not read again may not say a second time that they ended.
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
        for (StreamEdge input : config.getInPhysicalEdges(getUserCodeClassloader())) {
            requireAligned(input);
        }
        mailbox.execute(this::replaySome, "replay replicated dimensions");
    }

    /** Else an input may have ended for one subtask but not for another in a checkpoint. */
    private static void requireAligned(StreamEdge input) {
        if (input.supportsUnalignedCheckpoints()) {
            throw new IllegalStateException(
                    "Edge into the log of replicated dimensions is checkpointed unaligned: "
                            + input);
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        // The largest watermark still has to complete the dimensions of a snapshot of release
        // 0.1.0.
        if (complete || !progress.isOfEarlierRelease()) {
            progress.snapshot();
        }
        log.snapshot();
    }

    @Override
    public void finish() throws Exception {
        while (!log.isReplayed()) {
            replayNext();
            if (getContainingTask().isCanceled()) {
                throw new CancelTaskException("The task was cancelled during a replay.");
            }
        }
        markComplete();
        super.finish();
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
        if (complete && !settings.spec().dimensions().get(chunk.dimension()).changes()) {
            lateRows.accept(chunk, "all replicated dimensions complete");
            return;
        }
        Chunk stamped = expiry.stamped(chunk);
        if (log.append(stamped)) {
            emit(stamped);
        }
    }

    private void emit(Chunk chunk) {
        Chunk emitted =
                chunk.partition() == ChunkDescriptor.UNPARTITIONED
                        ? chunk
                        : chunk.withPartition(ChunkDescriptor.UNPARTITIONED);
        output.collect(new StreamRecord<>(emitted));
    }

    private void setComplete() throws Exception {
        if (!complete) {
            complete = true;
            log.setComplete();
        }
        markComplete();
    }

    /** Tells the join once the log is replayed. */
    private void markComplete() {
        if (!complete || marked || !log.isReplayed()) {
            return;
        }
        marked = true;
        TaskInfo task = getRuntimeContext().getTaskInfo();
        for (int dimension : settings.replicas().dimensions()) {
            LoadMark mark =
                    new LoadMark(
                            dimension,
                            ChunkDescriptor.UNPARTITIONED,
                            task.getIndexOfThisSubtask(),
                            task.getNumberOfParallelSubtasks(),
                            Status.COMPLETE);
            emit(mark.toChunk(settings.spec().dimensions().get(dimension).schema()));
        }
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    /** Says nothing, unless the restored snapshot does not hold which dimensions had ended. */
    @Override
    public void processWatermark(Watermark mark) throws Exception {
        if (mark.getTimestamp() == Long.MAX_VALUE && progress.isOfEarlierRelease()) {
            setComplete();
        }
    }

    /** An idle dimension is not a complete one; {@link LoadMark} has that it is idle. */
    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}

    /** The log sets the key where it touches state. */
    @Override
    public void setKeyContextElement(StreamRecord<Chunk> record) {}
}
