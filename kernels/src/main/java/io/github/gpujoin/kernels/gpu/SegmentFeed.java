// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Posts the same segments round robin, with a fixed number in flight. Used for measurements.
 *
 * <p>The result buffers of all in-flight segments are read as they complete, so a segment with many
 * results delays no other. A segment is posted again only after all earlier ones have ended, so all
 * are served equally often. Each time it must produce as many results as before. For one thread.
 *
 * <p>The methods that serve block until they are done. They throw {@link GpuUnavailableException}
 * if the device fails or the oldest segment does not end in 20 s, and {@link IllegalStateException}
 * if a segment's result count changes.
 */
public final class SegmentFeed implements AutoCloseable {

    private static final long NOT_POSTED = -1;
    private static final long STALL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int POLLS_PER_CHECK = 1 << 16;

    /**
     * The join to measure.
     *
     * @param resultRows rows of a result buffer, at least
     */
    record Join(
            JoinSpec spec,
            FactSegments facts,
            List<GpuTable> tables,
            StepOutput output,
            int resultRows,
            RingMemory ringMemory,
            JoinShare share) {}

    /**
     * A completed step: as much of a segment as fills a result buffer.
     *
     * @param chunk index of the chunk whose segment was joined
     * @param block number of the thread block that ran the step
     * @param startedNs on the clock of the device
     * @param busyNs duration
     */
    public record DoneStep(int chunk, int block, long startedNs, long busyNs) {}

    /**
     * What was served in a period.
     *
     * @param segments that ended
     * @param rows joined completely, also of segments that have not ended
     * @param results in all buffers read
     * @param busyNs device time, summed over blocks
     * @param elapsedNs duration of the period on the host's clock
     */
    public record Served(long segments, long rows, long results, long busyNs, long elapsedNs) {}

    private final DeviceLease lease;
    private final BusShares.Share share;
    private final Join join;
    private final List<Chunk> chunks;
    private final int inFlight;
    private final Buffers buffers;
    private final int[] lengthBytes;
    private final long epoch;
    private final long[] tickets;
    private final int[] resultBuffers;
    private final long[] resultsSoFar;
    private final long[] resultsBefore;
    private final int[] rowsSoFar;

    /** Segments written but not yet readable for the kernel, in order. */
    private final ArrayDeque<Integer> arriving = new ArrayDeque<>();

    private SegmentSlots slots;
    private ResultFormat format;
    private ResultFormat.Reader reader;
    private int plan;
    private long posted;
    private long ended;
    private long nextPoll;
    private long rows;
    private long results;
    private long busyNs;
    private Consumer<DoneStep> doneSteps = step -> {};

    SegmentFeed(DeviceLease lease, Buffers buffers, Join join, List<Chunk> chunks, int inFlight) {
        this.lease = lease;
        this.join = join;
        this.chunks = List.copyOf(chunks);
        this.inFlight = inFlight;
        if (inFlight < 1 || inFlight > chunks.size() || chunks.size() > StepRing.ENTRIES) {
            throw new IllegalArgumentException(
                    "Need 1 to "
                            + StepRing.ENTRIES
                            + " segments and at most as many in flight: inFlight="
                            + inFlight
                            + ", segments="
                            + chunks.size());
        }
        this.buffers = buffers;
        this.lengthBytes = new int[chunks.size()];
        this.epoch = lease.nextEpoch();
        this.tickets = new long[chunks.size()];
        this.resultBuffers = new int[chunks.size()];
        this.resultsSoFar = new long[chunks.size()];
        this.resultsBefore = new long[chunks.size()];
        this.rowsSoFar = new int[chunks.size()];
        Arrays.fill(resultsBefore, -1);
        lease.whileStopped(STALL_TIMEOUT_NS, this::writePlan);
        this.share = lease.ring().shares().open(join.share());
        for (int slot = 0; slot < chunks.size(); slot++) {
            lengthBytes[slot] =
                    join.facts()
                            .write(
                                    chunks.get(slot),
                                    0,
                                    rowsOf(slot),
                                    slots.segmentAddress(slot),
                                    epoch,
                                    slot);
        }
    }

    private void writePlan() {
        int mostRows = chunks.stream().mapToInt(Chunk::rowCount).max().orElseThrow();
        format =
                ResultFormat.of(
                        join.spec(),
                        join.tables(),
                        join.output() == StepOutput.PACKED_RESULTS,
                        mostRows,
                        join.resultRows(),
                        buffers);
        reader = format.newReader(format.newLayout());
        slots =
                new SegmentSlots(
                        lease.driver(),
                        buffers,
                        join.ringMemory(),
                        chunks.size(),
                        join.facts().plainBytes(mostRows),
                        format);
        plan = lease.plans().reserve();
        boolean countOnly = join.output() == StepOutput.COUNT;
        new JoinPlan(join.spec(), join.facts(), format, join.tables(), countOnly)
                .write(
                        lease.driver(),
                        buffers,
                        lease.plans().decoding(),
                        slots,
                        lease.plans().address(plan));
    }

    private int rowsOf(int slot) {
        return chunks.get(slot).rowCount();
    }

    /** Returns the bytes of the largest segment on the bus. */
    public int segmentBytes() {
        return Arrays.stream(lengthBytes).max().orElseThrow();
    }

    /**
     * Returns the bytes of a result on the bus if every fact has one, without alignment of whole
     * arrays; 0 if matches are only counted.
     */
    public double resultRowBytes() {
        return join.output() == StepOutput.COUNT ? 0 : format.resultBytes();
    }

    /** Serves for a period; in-flight segments stay in flight at its end. */
    public Served serve(long durationNs) {
        long startNs = System.nanoTime();
        return serve(Long.MAX_VALUE, () -> System.nanoTime() - startNs < durationNs, batch -> {});
    }

    /**
     * Serves a number of segments, with none in flight before and after. Segments in flight from an
     * earlier period end first and are not counted.
     */
    public Served serveSegments(long segments) {
        drain();
        return serve(ended + segments, () -> true, batch -> {});
    }

    /**
     * Serves each segment once, with none in flight before and after; passes results to a sink.
     *
     * @param sink must read a batch before it returns, because the kernel overwrites it afterwards
     */
    public Served serveOnce(Consumer<ResultBatch> sink) {
        drain();
        return serve(ended + chunks.size(), () -> true, sink);
    }

    /** Serves each segment once, with none in flight before and after; passes steps to a sink. */
    public Served serveOnceTimed(Consumer<DoneStep> sink) {
        drain();
        doneSteps = sink;
        try {
            return serve(ended + chunks.size(), () -> true, batch -> {});
        } finally {
            doneSteps = step -> {};
        }
    }

    private Served serve(long end, BooleanSupplier shouldContinue, Consumer<ResultBatch> sink) {
        long startNs = System.nanoTime();
        long endedBefore = ended;
        long rowsBefore = rows;
        long resultCountBefore = results;
        long busyBefore = busyNs;
        while (ended < end && shouldContinue.getAsBoolean()) {
            while (posted < end && posted - ended < inFlight) {
                begin((int) (posted % chunks.size()));
                posted++;
            }
            endNext(sink);
        }
        return new Served(
                ended - endedBefore,
                rows - rowsBefore,
                results - resultCountBefore,
                busyNs - busyBefore,
                System.nanoTime() - startNs);
    }

    private void drain() {
        while (ended < posted) {
            endNext(batch -> {});
        }
    }

    private void begin(int slot) {
        resultBuffers[slot] = 0;
        rowsSoFar[slot] = 0;
        resultsSoFar[slot] = 0;
        tickets[slot] = NOT_POSTED;
        slots.written(slot, lengthBytes[slot]);
        arriving.add(slot);
        postArrived();
    }

    /** Posts all segments that are readable for the kernel, up to the first one that must wait. */
    private void postArrived() {
        while (!arriving.isEmpty() && slots.hasArrived(arriving.peek())) {
            long ticket = tryPost(arriving.peek(), false);
            if (ticket == NOT_POSTED) {
                return;
            }
            tickets[arriving.remove()] = ticket;
        }
    }

    private void postNext(int slot) {
        long startNs = System.nanoTime();
        long ticket = tryPost(slot, true);
        for (int poll = 1; ticket == NOT_POSTED; poll++) {
            if (poll % POLLS_PER_CHECK == 0) {
                checkLiveness(startNs);
            }
            ticket = tryPost(slot, true);
        }
        tickets[slot] = ticket;
    }

    /** Returns NOT_POSTED if the step must wait for other joins, or the ring is full. */
    private long tryPost(int slot, boolean resume) {
        if (!share.mayPost(BusShares.Bottleneck.DEVICE)) {
            return NOT_POSTED;
        }
        int buffer = resultBuffers[slot];
        return lease.ring()
                .post(
                        new StepRing.Step(
                                plan,
                                slot,
                                buffer,
                                resume,
                                epoch,
                                slot,
                                0,
                                lengthBytes[slot],
                                null,
                                GridAllotment.partitionOf(chunks.get(slot)),
                                slots.completion(slot, buffer),
                                share,
                                BusShares.Bottleneck.DEVICE));
    }

    /**
     * Reads the results of the oldest segment until it ends and, while it has none ready, those of
     * other segments, round robin. Polling an incomplete step costs the device a cache line that it
     * must fetch back, so each poll checks one segment.
     */
    private void endNext(Consumer<ResultBatch> sink) {
        long startNs = System.nanoTime();
        int oldest = (int) (ended % chunks.size());
        slots.advance();
        postArrived();
        for (int poll = 1; rowsSoFar[oldest] < rowsOf(oldest); poll++) {
            if (isDone(oldest)) {
                readStep(oldest, sink);
            } else {
                readOther(sink);
            }
            if (tickets[oldest] == NOT_POSTED) {
                slots.advance();
                postArrived();
            }
            if (poll % POLLS_PER_CHECK == 0) {
                checkLiveness(startNs);
            }
        }
        requireSameResults(oldest);
        slots.release(oldest);
        ended++;
    }

    private void readOther(Consumer<ResultBatch> sink) {
        nextPoll = nextPoll > ended && nextPoll < posted ? nextPoll : ended;
        int slot = (int) (nextPoll++ % chunks.size());
        if (rowsSoFar[slot] < rowsOf(slot) && isDone(slot)) {
            readStep(slot, sink);
        }
    }

    /** Returns whether the step of a slot is complete. */
    private boolean isDone(int slot) {
        return tickets[slot] != NOT_POSTED
                && slots.completion(slot, resultBuffers[slot]).isOf(tickets[slot]);
    }

    private void requireSameResults(int slot) {
        long resultCount = resultsSoFar[slot];
        if (resultsBefore[slot] >= 0 && resultsBefore[slot] != resultCount) {
            throw new IllegalStateException(
                    "Result count of a segment changed: before="
                            + resultsBefore[slot]
                            + ", now="
                            + resultCount);
        }
        resultsBefore[slot] = resultCount;
    }

    /**
     * Reads a complete step. Unless the segment ends with it, first posts the next step into the
     * other buffer, so that the kernel works while this buffer is read.
     */
    private void readStep(int slot, Consumer<ResultBatch> sink) {
        int buffer = resultBuffers[slot];
        StepCompletion completion = slots.completion(slot, buffer);
        lease.ring().release(tickets[slot]);
        if (!completion.isOk()) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST,
                    "Segment corrupted on the device: status=" + completion.status());
        }
        int completedRows = completion.completedRows();
        if (completedRows < rowsOf(slot)) {
            resultBuffers[slot] = 1 - buffer;
            postNext(slot);
        }
        long stepNs = completion.busyNs();
        busyNs += stepNs;
        doneSteps.accept(new DoneStep(slot, completion.block(), completion.startedNs(), stepNs));
        long resultCount = completion.matchCount();
        resultsSoFar[slot] += resultCount;
        results += resultCount;
        int firstRow = rowsSoFar[slot];
        rows += completedRows - firstRow;
        rowsSoFar[slot] = completedRows;
        long address = slots.resultAddress(slot, buffer);
        Chunk chunk = chunks.get(slot);
        sink.accept(reader.read(address, chunk, firstRow, completion.rowCount(), completedRows));
    }

    private void checkLiveness(long startNs) {
        lease.requireRunning();
        if (System.nanoTime() - startNs > STALL_TIMEOUT_NS) {
            throw new GpuUnavailableException(
                    GpuFailure.KERNEL_STALLED, "Step timed out: timeoutNs=" + STALL_TIMEOUT_NS);
        }
    }

    /**
     * Waits for the in-flight segments and frees the memory. Call it once.
     *
     * @throws GpuUnavailableException if the kernel does not stop; the memory is abandoned then
     */
    @Override
    public void close() {
        share.close();
        try {
            drain();
            lease.whileStopped(STALL_TIMEOUT_NS, this::freePlan);
        } catch (RuntimeException e) {
            buffers.abandon();
            throw e;
        }
    }

    private void freePlan() {
        buffers.close();
        lease.plans().free(plan);
    }
}
