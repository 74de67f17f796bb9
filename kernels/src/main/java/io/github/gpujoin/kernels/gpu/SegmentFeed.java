package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Segments in their slots, asked for in turn, again and again, as many at once as are allowed in
 * flight. Every time that a segment is served it must give as many results as before. Used by one
 * thread.
 */
public final class SegmentFeed implements AutoCloseable {

    private static final long STALL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int SPINS_PER_CHECK = 1 << 16;

    /**
     * What is joined.
     *
     * @param resultRows of a result buffer
     */
    record Join(
            JoinSpec spec,
            FactSegments facts,
            List<GpuTable> tables,
            boolean countOnly,
            int resultRows) {}

    /**
     * What was served in some time.
     *
     * @param busyNs device time, summed over blocks
     */
    public record Served(long segments, long rows, long results, long busyNs, long elapsedNs) {}

    private final DeviceLease lease;
    private final Join join;
    private final List<Chunk> chunks;
    private final int inFlight;
    private final Buffers buffers;
    private final ResultLayout layout;
    private final int rowsPerSegment;
    private final int segmentBytes;
    private final long epoch;
    private final long[] tickets;
    private final int[] resultBuffers;
    private final long[] resultsSoFar;
    private final long[] resultsBefore;
    private SegmentSlots slots;
    private int plan;
    private long posted;
    private long taken;
    private long busyNs;

    SegmentFeed(DeviceLease lease, Buffers buffers, Join join, List<Chunk> chunks, int inFlight) {
        this.lease = lease;
        this.join = join;
        this.chunks = List.copyOf(chunks);
        this.inFlight = inFlight;
        this.rowsPerSegment = chunks.get(0).rowCount();
        if (inFlight < 1 || inFlight > chunks.size() || chunks.size() > StepRing.ENTRIES) {
            throw new IllegalArgumentException(
                    "there are as many segments as are in flight, and at most "
                            + StepRing.ENTRIES
                            + ": inFlight="
                            + inFlight
                            + ", segments="
                            + chunks.size());
        }
        this.buffers = buffers;
        this.layout = new ResultLayout(join.spec(), join.resultRows());
        this.segmentBytes = join.facts().lengthBytes(rowsPerSegment);
        this.epoch = lease.nextEpoch();
        this.tickets = new long[chunks.size()];
        this.resultBuffers = new int[chunks.size()];
        this.resultsSoFar = new long[chunks.size()];
        this.resultsBefore = new long[chunks.size()];
        Arrays.fill(resultsBefore, -1);
        lease.whileStopped(STALL_TIMEOUT_NS, this::writePlan);
        for (int slot = 0; slot < chunks.size(); slot++) {
            join.facts()
                    .write(
                            chunks.get(slot),
                            0,
                            rowsPerSegment,
                            slots.segmentAddress(slot),
                            epoch,
                            slot);
        }
    }

    private void writePlan() {
        slots = new SegmentSlots(buffers, chunks.size(), segmentBytes, layout);
        plan = lease.takePlan();
        new JoinPlan(join.spec(), join.facts(), layout, join.tables(), join.countOnly())
                .write(lease.driver(), buffers, slots, lease.planAddress(plan));
    }

    /** Bytes that a segment has on the bus. */
    public int segmentBytes() {
        return segmentBytes;
    }

    /** Bytes that a result row has on the bus, alignment of whole arrays left out. */
    public long resultRowBytes() {
        return join.countOnly() ? 0 : layout.lengthBytes() / layout.capacityRows();
    }

    /** Serves for some time; what is in flight then stays so. */
    public Served serve(long durationNs) {
        long startNs = System.nanoTime();
        return serve(Long.MAX_VALUE, () -> System.nanoTime() - startNs < durationNs, batch -> {});
    }

    /** Serves so many segments, with nothing in flight before or after. */
    public Served serveSegments(long segments) {
        drain();
        return serve(taken + segments, () -> true, batch -> {});
    }

    /** Serves each segment once, with nothing in flight before or after, and shows its results. */
    public Served serveOnce(Consumer<ResultBatch> results) {
        drain();
        return serve(taken + chunks.size(), () -> true, results);
    }

    private Served serve(long end, BooleanSupplier goOn, Consumer<ResultBatch> results) {
        long startNs = System.nanoTime();
        long firstTaken = taken;
        long busyBefore = busyNs;
        long given = 0;
        while (taken < end && goOn.getAsBoolean()) {
            while (posted < end && posted - taken < inFlight) {
                int slot = (int) (posted % chunks.size());
                resultBuffers[slot] = 0;
                post(slot, false);
                posted++;
            }
            given += takeNext(results);
        }
        long segments = taken - firstTaken;
        return new Served(
                segments,
                segments * rowsPerSegment,
                given,
                busyNs - busyBefore,
                System.nanoTime() - startNs);
    }

    private void drain() {
        while (taken < posted) {
            takeNext(batch -> {});
        }
    }

    private void post(int slot, boolean resume) {
        long ticket = tryPost(slot, resume);
        while (ticket < 0) {
            lease.requireRunning();
            ticket = tryPost(slot, resume);
        }
        tickets[slot] = ticket;
    }

    private long tryPost(int slot, boolean resume) {
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
                                segmentBytes,
                                chunks.get(slot).partition(),
                                slots.completionAddress(slot, buffer)));
    }

    private long sequenceAddress(int slot) {
        return slots.completionAddress(slot, resultBuffers[slot])
                + StepDescriptor.COMPLETION_SEQUENCE_OFFSET;
    }

    /** Waits for the oldest segment and takes all its results; returns how many. */
    private long takeNext(Consumer<ResultBatch> results) {
        int slot = (int) (taken % chunks.size());
        int completedRows = takeStep(slot, results);
        while (completedRows < rowsPerSegment) {
            resultBuffers[slot] = 1 - resultBuffers[slot];
            post(slot, true);
            completedRows = takeStep(slot, results);
        }
        taken++;
        long given = resultsSoFar[slot];
        resultsSoFar[slot] = 0;
        if (resultsBefore[slot] >= 0 && resultsBefore[slot] != given) {
            throw new IllegalStateException(
                    "a segment gives the same results each time: before="
                            + resultsBefore[slot]
                            + ", now="
                            + given);
        }
        resultsBefore[slot] = given;
        return given;
    }

    /** Returns the rows of the segment that are complete with the step. */
    private int takeStep(int slot, Consumer<ResultBatch> results) {
        long completion = slots.completionAddress(slot, resultBuffers[slot]);
        await(sequenceAddress(slot), tickets[slot] + 1);
        lease.ring().release(tickets[slot]);
        int status = Memory.getInt(completion + StepDescriptor.COMPLETION_STATUS_OFFSET);
        if (status != StepDescriptor.STATUS_OK) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST,
                    "a segment arrives on the device as it was written: status=" + status);
        }
        busyNs += slots.busyNs(slot, resultBuffers[slot]);
        resultsSoFar[slot] +=
                Memory.getLong(completion + StepDescriptor.COMPLETION_MATCH_COUNT_OFFSET);
        int completedRows =
                Memory.getInt(completion + StepDescriptor.COMPLETION_COMPLETED_ROWS_OFFSET);
        ResultBatch batch = new ResultBatch(layout, slots.resultAddress(slot, resultBuffers[slot]));
        int rowCount = Memory.getInt(completion + StepDescriptor.COMPLETION_ROW_COUNT_OFFSET);
        batch.set(chunks.get(slot), rowCount, completedRows);
        results.accept(batch);
        return completedRows;
    }

    private void await(long sequenceAddress, long sequence) {
        long startNs = System.nanoTime();
        // acquire: the completion and the results are read after the sequence was seen
        for (int spin = 1; Memory.getLongAcquire(null, sequenceAddress) != sequence; spin++) {
            Thread.onSpinWait();
            if (spin % SPINS_PER_CHECK == 0) {
                lease.requireRunning();
                if (System.nanoTime() - startNs > STALL_TIMEOUT_NS) {
                    throw new GpuUnavailableException(
                            GpuFailure.KERNEL_STALLED,
                            "a step ends in time: timeoutNs=" + STALL_TIMEOUT_NS);
                }
            }
        }
    }

    /** Where the kernel does not come to an end, the memory is left to it. */
    @Override
    public void close() {
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
        lease.freePlan(plan);
    }
}
