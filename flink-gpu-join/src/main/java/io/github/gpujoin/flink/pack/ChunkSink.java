// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.histogram.RunningHistogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlots;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.local.LocalExchangeSender;
import io.github.gpujoin.flink.record.RecordField;
import java.util.function.BooleanSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Collects the rows of a packer in one builder for each group of partitions, seals a builder when
 * it is full or its first row has waited for the flush interval, and emits the chunks. Runs in the
 * mailbox.
 */
final class ChunkSink {

    /** Rows over which the histogram of partitions forgets half. */
    private static final long HISTOGRAM_WINDOW_ROWS = 1 << 22;

    private final ChunkSchema schema;
    private PackSpec packing;
    private PartitionGroups groups;
    private final Output<StreamRecord<Chunk>> output;
    private final ProcessingTimeService time;
    private ChunkBuilder[] builders;
    private long[] firstRowAt;
    private volatile RunningHistogram histogram;
    private final StreamRecord<Chunk> element = new StreamRecord<>(null);
    private final Counter chunksOut;
    private final Counter chunksExchangedLocally;
    private final RowCounts rows;
    private @Nullable LocalExchangeSender exchange;

    /** Null for the main output. */
    private @Nullable OutputTag<Chunk> tag;

    private final long types;
    private final Runnable drain;
    private final BooleanSupplier outputIsAvailable;
    private boolean timerRuns;

    /** Runs behind the rows that wait; null for none. */
    private @Nullable Runnable behindRows;

    private long sequence;

    /**
     * @param types {@link RecordField#typesOf}, the epoch of all chunks
     * @param tag of the output; null for the main one
     * @param exchange with the join; null if all chunks go through the channel
     * @param drain adds rows that were announced by {@link #rowsCome}, if any; called before every
     *     flush
     * @param outputIsAvailable whether the task may emit without blocking
     */
    ChunkSink(
            ChunkSchema schema,
            long types,
            PackSpec packing,
            PartitionGroups groups,
            Output<StreamRecord<Chunk>> output,
            ProcessingTimeService time,
            MetricGroup metrics,
            RowCounts rows,
            @Nullable OutputTag<Chunk> tag,
            @Nullable LocalExchangeSender exchange,
            Runnable drain,
            BooleanSupplier outputIsAvailable) {
        this.schema = schema;
        this.types = types;
        this.output = output;
        this.time = time;
        this.rows = rows;
        this.drain = drain;
        this.outputIsAvailable = outputIsAvailable;
        pack(packing, groups, tag, exchange);
        this.chunksOut = metrics.counter("chunksOut");
        this.chunksExchangedLocally = metrics.counter("chunksExchangedLocally");
        if (packing.isPartitioned()) {
            metrics.gauge("partitionSkew", this::skew);
        }
    }

    /**
     * Packs all further rows so, and emits them there. No row may be waiting.
     *
     * @param by what rows are grouped
     * @param to null for the main output
     * @param through null if all chunks go through the channel
     */
    void pack(PackSpec into, PartitionGroups by, OutputTag<Chunk> to, LocalExchangeSender through) {
        packing = into;
        groups = by;
        tag = to;
        exchange = through;
        int count = groups.count();
        builders = new ChunkBuilder[count];
        firstRowAt = new long[count];
        histogram = new RunningHistogram(count, HISTOGRAM_WINDOW_ROWS);
    }

    /** Where to add rows of the group, 0 if there are none; always the same, never full. */
    ChunkBuilder builder(int group) {
        ChunkBuilder builder = builders[group];
        if (builder == null) {
            ChunkSlots slots = exchange == null ? ChunkSlots.NONE : exchange;
            builder = new ChunkBuilder(schema, packing.builderBytes(groups.count()), slots);
            builders[group] = builder;
        }
        return builder;
    }

    /**
     * To be called when a row comes that is added later: its time runs from now on.
     *
     * @return the processing time in ms, for {@link #added}
     */
    long rowsCome() {
        long now = nowMs();
        startTimer(now + packing.flushIntervalMs());
        return now;
    }

    /** The processing time in ms. */
    long nowMs() {
        return time.getCurrentProcessingTime();
    }

    /**
     * To be called when rows were added to the group's builder that are its first or fill it.
     *
     * @param rows how many, at least 1
     * @param arrivedAtMs processing time at which the first of them came
     */
    void added(int group, int rows, long arrivedAtMs) {
        ChunkBuilder builder = builders[group];
        if (builder.isFull()) {
            seal(group);
        } else if (builder.rowCount() == rows) {
            firstRowAt[group] = arrivedAtMs;
            startTimer(arrivedAtMs + packing.flushIntervalMs());
        }
    }

    /** Emits a chunk that is packed already, behind the rows that wait. */
    void forward(Chunk chunk) {
        flush(Long.MAX_VALUE);
        // The receiver reads the chunk after this call. Only the exchange keeps chunks in slots.
        Chunk kept = chunk.isTransient() || exchange == null ? chunk.onHeap() : chunk;
        Chunk sent =
                ChunkHeaders.with(
                        kept, packing.dimension(), ChunkDescriptor.UNPARTITIONED, sequence);
        if (sent != chunk) {
            chunk.release();
        }
        emit(sent);
    }

    /** Emits all rows that wait. */
    void flush() {
        drain.run();
        flush(Long.MAX_VALUE);
        runBehindRows();
    }

    /**
     * Runs an action behind all rows that wait, after the flush interval at the latest. It replaces
     * an action that still waits.
     */
    void runBehindRows(Runnable action) {
        behindRows = action;
        if (!timerRuns) {
            runBehindRows();
        }
    }

    private void runBehindRows() {
        Runnable action = behindRows;
        if (action != null) {
            behindRows = null;
            action.run();
        }
    }

    private void flush(long firstRowBefore) {
        for (int group = 0; group < builders.length; group++) {
            if (waits(group) && firstRowAt[group] <= firstRowBefore) {
                seal(group);
            }
        }
    }

    /** Whether rows may wait, here or announced by {@link #rowsCome}. */
    boolean mayHoldRows() {
        return timerRuns;
    }

    private boolean waits(int group) {
        return builders[group] != null && !builders[group].isEmpty();
    }

    private void seal(int group) {
        ChunkBuilder builder = builders[group];
        histogram.add(group, builder.rowCount());
        emit(groups.seal(builder, packing.dimension(), group, types, sequence));
    }

    private void emit(Chunk chunk) {
        sequence++;
        chunksOut.inc();
        if (tag != null) {
            output.collect(tag, element.replace(chunk));
            rows.emittedInChain(chunk);
            return;
        }
        Chunk sent = exchange == null ? chunk : exchange.send(chunk);
        if (sent.rowCount() == 0) {
            chunksExchangedLocally.inc();
        }
        output.collect(element.replace(sent));
        rows.emitted(chunk, sent);
    }

    /** One timer runs at a time, for the row that waits longest. */
    private void startTimer(long at) {
        if (!timerRuns) {
            timerRuns = true;
            time.registerTimer(at, now -> onTimer());
        }
    }

    /** Rows stay while the output is full: a timer that blocks keeps barriers from the task. */
    private void onTimer() {
        if (!outputIsAvailable.getAsBoolean()) {
            timerRuns = false;
            startTimer(nowMs() + packing.flushIntervalMs());
            return;
        }
        drain.run();
        flush(behindRows == null ? nowMs() - packing.flushIntervalMs() : Long.MAX_VALUE);
        runBehindRows();
        long oldest = Long.MAX_VALUE;
        for (int group = 0; group < builders.length; group++) {
            if (waits(group)) {
                oldest = Math.min(oldest, firstRowAt[group]);
            }
        }
        // Only now, so that rows which drain adds do not start a timer of their own, too late for
        // others.
        timerRuns = false;
        if (oldest != Long.MAX_VALUE) {
            startTimer(oldest + packing.flushIntervalMs());
        }
    }

    /** Rows of the largest group over the mean; the reporter's thread may see old counts. */
    private double skew() {
        RunningHistogram seen = histogram;
        double largest = 0;
        for (int group = 0; group < seen.partitions(); group++) {
            largest = Math.max(largest, seen.share(group));
        }
        return largest == 0 ? 1 : largest * seen.partitions();
    }
}
