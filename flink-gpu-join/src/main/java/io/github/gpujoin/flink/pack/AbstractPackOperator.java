// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.options.BadRecords;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.backpressure.HoldableOutput;
import io.github.gpujoin.flink.exchange.local.LocalExchangeSender;
import io.github.gpujoin.flink.exchange.ring.JoinSide;
import io.github.gpujoin.flink.exchange.ring.RingSendEdge;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.filter.FilterSubscription;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.UnreadableRecordException;
import io.github.gpujoin.flink.runtime.distribution.DistributionClient;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.flink.api.common.functions.DefaultOpenContext;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.Function;
import org.apache.flink.api.common.functions.util.FunctionUtils;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * A packer: filters rows and puts them into chunks, in the chain of their source.
 *
 * <p>Rows never wait behind a watermark, a barrier, idleness or the end of the input: those flush
 * first, or a watermark {@linkplain #holdWatermarks waits} for the rows before it. A packer
 * therefore has no state.
 *
 * <p>A packer of facts may {@linkplain #partitionUntilReplicated start partitioned}: it emits
 * chunks of one partition each to a side output, and once the dimension is replicated chunks of any
 * rows to its main output.
 *
 * @param <IN> what comes in
 * @param <ROW> what a filter looks at
 */
public abstract class AbstractPackOperator<IN, ROW> extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<IN, Chunk>, BoundedOneInput {

    /** Side output of unreadable records, if the packing skips them. */
    public static final OutputTag<BadRecord> BAD_RECORDS =
            new OutputTag<>("bad-records", TypeInformation.of(BadRecord.class));

    private static final long serialVersionUID = 1L;

    /** A filter of facts that would be copied in any case pays unless it keeps nearly all. */
    static final double MAX_KEPT_SHARE = 0.875;

    PackSpec packing;

    /** Decides the packing while the job runs, or null if the packing is fixed. */
    private @Nullable MeasuredDimension measured;

    private transient MailboxExecutor mailbox;
    private transient @Nullable DistributionClient inquiry;

    /** Side output of chunks of one partition; null if all chunks go to the main output. */
    private OutputTag<Chunk> partitions;

    private final ChunkSchema schema;
    private final @Nullable FilterFunction<ROW> filter;

    /** Whether the packer belongs to a join of batch mode. */
    private boolean isForBatch;

    private boolean holdsWatermarks;

    transient PartitionGroups groups;
    transient ChunkSink sink;
    transient Counter rowsIn;
    transient Counter rowsFiltered;
    transient Counter nullKeyRows;
    transient Counter rowsPruned;
    private FilterPlan filterPlan = FilterPlan.NONE;
    transient FilterSubscription filters;
    private transient Counter badRecords;
    private transient HeldLatencyMarkers heldMarkers;
    private transient @Nullable HoldableOutput<StreamRecord<Chunk>> holdable;

    /**
     * @param schema of emitted chunks
     * @param filter null to keep all rows
     */
    AbstractPackOperator(
            ChunkSchema schema, @Nullable FilterFunction<ROW> filter, PackSpec packing) {
        this.schema = schema;
        this.filter = filter;
        this.packing = packing;
        if (packing.isPartitioned()) {
            int column = packing.partitionColumn();
            if (column < 0
                    || column >= schema.size()
                    || !schema.column(column).isFixed()
                    || !schema.column(column).type().isInteger()) {
                throw new IllegalArgumentException(
                        "The partition column is not a fixed-width integer: side="
                                + packing.side()
                                + ", column="
                                + column
                                + ", schema="
                                + schema);
            }
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        if (isForBatch) {
            ExecutionMode.requireBatchAtStart(getContainingTask().getEnvironment());
        } else {
            ExecutionMode.requireStreamingAtStart(getContainingTask().getEnvironment());
        }
        heldMarkers =
                new HeldLatencyMarkers(
                        getProcessingTimeService(), this::reportOrForwardLatencyMarker);
        rowsIn = getMetricGroup().counter("rowsIn");
        rowsFiltered = getMetricGroup().counter("rowsFiltered");
        nullKeyRows = getMetricGroup().counter("nullKeyRows");
        badRecords = getMetricGroup().counter("badRecords");
        rowsPruned = getMetricGroup().counter("rowsPruned");
        filters = new FilterSubscription(filterPlan, getContainingTask().getEnvironment());
        filters.register(getMetricGroup());
        groups = groups();
        if (packing.dimension() == ChunkDescriptor.FACTS && !isForBatch) {
            holdable =
                    HoldableOutput.of(
                            output,
                            getOperatorConfig(),
                            getContainingTask().getEnvironment(),
                            getUserCodeClassloader());
            output = holdable;
        }
        sink =
                new ChunkSink(
                        schema,
                        types(),
                        packing,
                        groups,
                        output,
                        getProcessingTimeService(),
                        getMetricGroup(),
                        new RowCounts(this),
                        partitions,
                        exchange().orElse(null),
                        this::drain,
                        this::outputIsAvailable);
        if (filter != null) {
            open(filter);
        }
        if (measured != null) {
            inquiry =
                    new DistributionClient(
                            getContainingTask()
                                    .getEnvironment()
                                    .getOperatorCoordinatorEventGateway(),
                            getOperatorID(),
                            getRuntimeContext().getTaskInfo(),
                            measured,
                            () -> mailbox.execute(this::adoptAnswer, "change the packing"));
            inquiry.ask(DistributionClient.NO_CHECKPOINT);
        }
    }

    /**
     * Has chunks of one partition each emitted to the side output {@link
     * MeasuredDimension#partitions}, until the dimension is replicated.
     *
     * @throws IllegalStateException if the packing has no partitions
     */
    public final void partitionUntilReplicated(
            MeasuredDimension dimension, TypeInformation<Chunk> type) {
        if (!packing.isPartitioned()) {
            throw new IllegalStateException(
                    "Side '%s' is packed without partitions.".formatted(packing.side()));
        }
        measured = dimension;
        partitions = MeasuredDimension.partitions(type);
    }

    /** Packs for a join of batch mode. */
    public final void packForBatch() {
        isForBatch = true;
    }

    /** Has facts dropped that have no match in a complete dimension. */
    public final void pruneBy(FilterPlan plan) {
        filterPlan = plan;
    }

    /**
     * Holds watermarks until their rows are emitted, at most for the flush interval. A source that
     * reads faster than event time passes emits so many that a chunk for each partition and
     * watermark would contain few rows.
     */
    public final void holdWatermarks() {
        holdsWatermarks = true;
    }

    final void setMailbox(MailboxExecutor executor) {
        mailbox = executor;
    }

    private void adoptAnswer() {
        if (inquiry.answer() == Distribution.REPLICATED) {
            replicate();
        }
    }

    /** Packs rows of any partition from now on, and emits them to the main output. */
    final void replicate() {
        if (packing.isPartitioned()) {
            flush();
            packing = packing.unpartitioned();
            groups = groups();
            sink.pack(packing, groups, null, exchange().orElse(null));
            onPackingChanged();
        }
    }

    /** Called after {@link #packing} has changed. No row is buffered. */
    void onPackingChanged() {}

    /** Returns {@link RecordField#typesOf} the columns, the epoch of all chunks. */
    long types() {
        return 0;
    }

    /** Returns one group per subtask of the join if these are known, else one per partition. */
    private PartitionGroups groups() {
        if (packing.receivers() == null || !packing.isPartitioned()) {
            return PartitionGroups.ofPartitions(packing.partitions());
        }
        OptionalInt receivers =
                RingSendEdge.receivers(
                        packing.receivers(),
                        packing.dimension() == ChunkDescriptor.FACTS
                                ? JoinSide.PROBE
                                : JoinSide.BUILD,
                        getContainingTask().getConfiguration(),
                        getContainingTask().getEnvironment(),
                        getUserCodeClassloader());
        return receivers.isPresent()
                ? PartitionGroups.ofReceivers(packing.partitions(), receivers.getAsInt())
                : PartitionGroups.ofPartitions(packing.partitions());
    }

    /** Opens a function that may be a rich one. */
    final void open(Function function) throws Exception {
        FunctionUtils.setFunctionRuntimeContext(function, getRuntimeContext());
        FunctionUtils.openFunction(function, DefaultOpenContext.INSTANCE);
    }

    /** Returns the local exchange with the join. Partitioned facts and batch mode have none. */
    private Optional<LocalExchangeSender> exchange() {
        boolean isExchanged = packing.dimension() == ChunkDescriptor.FACTS && !isForBatch;
        if (!isExchanged || packing.isPartitioned()) {
            return Optional.empty();
        }
        return LocalExchangeSender.outOf(
                getOperatorConfig(),
                getContainingTask().getEnvironment(),
                getUserCodeClassloader(),
                schema);
    }

    private boolean outputIsAvailable() {
        for (ResultPartitionWriter writer : getContainingTask().getEnvironment().getAllWriters()) {
            if (!writer.isAvailable()) {
                return false;
            }
        }
        return true;
    }

    /** Moves buffered rows of a packer into the sink. */
    void drain() {}

    /** Whether dimensions may give filters of the rows. */
    final boolean mayPrune() {
        return !filterPlan.dimensions().isEmpty();
    }

    final boolean hasFilter() {
        return filter != null;
    }

    /**
     * Whether the filter keeps the row.
     *
     * @throws UnreadableRecordException if the filter throws
     */
    final boolean keeps(ROW row) {
        if (filter == null) {
            return true;
        }
        try {
            return filter.filter(row);
        } catch (Exception e) {
            throw new UnreadableRecordException(
                    "The filter of a side of the join failed", packing.side(), e);
        }
    }

    /** Whether unreadable records are skipped instead of failing the job. */
    final boolean skipsBadRecords() {
        return packing.badRecords() == BadRecords.SKIP;
    }

    /**
     * Skips a record.
     *
     * @throws UnreadableRecordException the given one, if bad records fail the job
     */
    final void bad(Object record, UnreadableRecordException e) {
        if (!skipsBadRecords()) {
            throw e;
        }
        badRecords.inc();
        BadRecord bad =
                new BadRecord(packing.side(), UnreadableRecordException.textOf(record), e.reason());
        output.collect(BAD_RECORDS, new StreamRecord<>(bad));
    }

    /**
     * Delays the marker until the rows before it are emitted, so that it measures their latency.
     */
    @Override
    public void processLatencyMarker(LatencyMarker marker) throws Exception {
        if (sink.mayHoldRows()) {
            heldMarkers.hold(marker, sink.nowMs() + packing.flushIntervalMs());
        } else {
            super.processLatencyMarker(marker);
        }
    }

    /** Emits all buffered rows and the latency markers behind them. */
    private void flush() {
        sink.flush();
        heldMarkers.emitAll();
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        if (holdsWatermarks) {
            sink.runBehindRows(() -> output.emitWatermark(mark));
            return;
        }
        flush();
        super.processWatermark(mark);
    }

    @Override
    public void processWatermark(WatermarkEvent watermark) throws Exception {
        flush();
        super.processWatermark(watermark);
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus status) throws Exception {
        if (status.isIdle()) {
            flush();
        }
        super.processWatermarkStatus(status);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        if (holdable != null) {
            holdable.emitBeforeBarrier(checkpointId, this::flush);
        } else {
            flush();
        }
        super.prepareSnapshotPreBarrier(checkpointId);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        if (inquiry != null) {
            inquiry.ask(context.getCheckpointId());
        }
    }

    @Override
    public void endInput() throws Exception {
        flush();
    }

    @Override
    public void finish() throws Exception {
        flush();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        if (inquiry != null) {
            inquiry.close();
        }
        if (filters != null) {
            filters.close();
        }
        if (holdable != null) {
            holdable.release();
        }
        if (filter != null) {
            FunctionUtils.closeFunction(filter);
        }
        super.close();
    }
}
