package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
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
 * Segments in their slots, asked for in turn, again and again, as many at once as are allowed in
 * flight. Buffers of all that are in flight are taken as they get ready, so that a segment whose
 * results need many holds up no other; a segment is asked for again only after all before it have
 * ended, so that all are served equally often. Every time it must give as many results as before.
 * Used by one thread.
 */
public final class SegmentFeed implements AutoCloseable {

    private static final long NOT_POSTED = -1;
    private static final long STALL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int LOOKS_PER_CHECK = 1 << 16;

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
            int resultRows,
            RingMemory ringMemory) {}

    /**
     * A step that a thread block did.
     *
     * @param chunk whose segment it worked on, by its place among the chunks
     * @param startedNs on the device's clock
     * @param busyNs that it took
     */
    public record DoneStep(int chunk, int block, long startedNs, long busyNs) {}

    /**
     * What was served in some time.
     *
     * @param segments that ended
     * @param rows that gave all their results, also of segments that go on
     * @param results of all buffers taken
     * @param busyNs device time, summed over blocks
     */
    public record Served(long segments, long rows, long results, long busyNs, long elapsedNs) {}

    private final DeviceLease lease;
    private final Join join;
    private final List<Chunk> chunks;
    private final int inFlight;
    private final Buffers buffers;
    private final ResultLayout layout;
    private final int segmentBytes;
    private final long epoch;
    private final long[] tickets;
    private final int[] resultBuffers;
    private final long[] resultsSoFar;
    private final long[] resultsBefore;
    private final int[] rowsSoFar;

    /** Begun, and not there for the kernel yet; in order. */
    private final ArrayDeque<Integer> onTheirWay = new ArrayDeque<>();

    private SegmentSlots slots;
    private int plan;
    private long posted;
    private long ended;
    private long nextLook;
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
                    "there are as many segments as are in flight, and at most "
                            + StepRing.ENTRIES
                            + ": inFlight="
                            + inFlight
                            + ", segments="
                            + chunks.size());
        }
        this.buffers = buffers;
        this.layout = new ResultLayout(join.spec(), join.resultRows());
        int mostRows = chunks.stream().mapToInt(Chunk::rowCount).max().orElseThrow();
        this.segmentBytes = join.facts().lengthBytes(mostRows);
        this.epoch = lease.nextEpoch();
        this.tickets = new long[chunks.size()];
        this.resultBuffers = new int[chunks.size()];
        this.resultsSoFar = new long[chunks.size()];
        this.resultsBefore = new long[chunks.size()];
        this.rowsSoFar = new int[chunks.size()];
        Arrays.fill(resultsBefore, -1);
        lease.whileStopped(STALL_TIMEOUT_NS, this::writePlan);
        for (int slot = 0; slot < chunks.size(); slot++) {
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
        slots =
                new SegmentSlots(
                        lease.driver(),
                        buffers,
                        join.ringMemory(),
                        chunks.size(),
                        segmentBytes,
                        layout);
        plan = lease.takePlan();
        new JoinPlan(join.spec(), join.facts(), layout, join.tables(), join.countOnly())
                .write(lease.driver(), buffers, slots, lease.planAddress(plan));
    }

    private int rowsOf(int slot) {
        return chunks.get(slot).rowCount();
    }

    private int bytesOf(int slot) {
        return join.facts().lengthBytes(rowsOf(slot));
    }

    /** Bytes that the largest segment has on the bus. */
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
        return serve(ended + segments, () -> true, batch -> {});
    }

    /** Serves each segment once, with nothing in flight before or after, and shows its results. */
    public Served serveOnce(Consumer<ResultBatch> sink) {
        drain();
        return serve(ended + chunks.size(), () -> true, sink);
    }

    /** Serves each segment once, with nothing in flight before or after, and tells who did it. */
    public Served serveOnceTimed(Consumer<DoneStep> sink) {
        drain();
        doneSteps = sink;
        try {
            return serve(ended + chunks.size(), () -> true, batch -> {});
        } finally {
            doneSteps = step -> {};
        }
    }

    private Served serve(long end, BooleanSupplier goOn, Consumer<ResultBatch> sink) {
        long startNs = System.nanoTime();
        long endedBefore = ended;
        long rowsBefore = rows;
        long resultsTakenBefore = results;
        long busyBefore = busyNs;
        while (ended < end && goOn.getAsBoolean()) {
            while (posted < end && posted - ended < inFlight) {
                begin((int) (posted % chunks.size()));
                posted++;
            }
            endNext(sink);
        }
        return new Served(
                ended - endedBefore,
                rows - rowsBefore,
                results - resultsTakenBefore,
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
        slots.written(slot, bytesOf(slot));
        onTheirWay.add(slot);
        postArrived();
    }

    /** Asks for all segments that the kernel can have by now. */
    private void postArrived() {
        while (!onTheirWay.isEmpty() && slots.hasArrived(onTheirWay.peek())) {
            post(onTheirWay.remove(), false);
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
                                bytesOf(slot),
                                chunks.get(slot).partition(),
                                slots.completion(slot, buffer)));
    }

    /**
     * Takes what the oldest segment gives until it ends, and while it has nothing ready, what
     * others do, each in its turn. A look at a step that is not complete costs the device a line
     * that it has to take back, so there is none without need.
     */
    private void endNext(Consumer<ResultBatch> sink) {
        long startNs = System.nanoTime();
        int oldest = (int) (ended % chunks.size());
        slots.advance();
        postArrived();
        for (int look = 1; rowsSoFar[oldest] < rowsOf(oldest); look++) {
            if (isDone(oldest)) {
                takeStep(oldest, sink);
            } else {
                takeOther(sink);
            }
            if (tickets[oldest] == NOT_POSTED) {
                slots.advance();
                postArrived();
            }
            if (look % LOOKS_PER_CHECK == 0) {
                checkLiveness(startNs);
            }
        }
        requireSameResults(oldest);
        slots.taken(oldest);
        ended++;
    }

    private void takeOther(Consumer<ResultBatch> sink) {
        nextLook = nextLook > ended && nextLook < posted ? nextLook : ended;
        int slot = (int) (nextLook++ % chunks.size());
        if (rowsSoFar[slot] < rowsOf(slot) && isDone(slot)) {
            takeStep(slot, sink);
        }
    }

    /** Whether the slot's step is complete. */
    private boolean isDone(int slot) {
        return tickets[slot] != NOT_POSTED
                && slots.completion(slot, resultBuffers[slot]).isOf(tickets[slot]);
    }

    private void requireSameResults(int slot) {
        long given = resultsSoFar[slot];
        if (resultsBefore[slot] >= 0 && resultsBefore[slot] != given) {
            throw new IllegalStateException(
                    "a segment gives the same results each time: before="
                            + resultsBefore[slot]
                            + ", now="
                            + given);
        }
        resultsBefore[slot] = given;
    }

    /**
     * Takes a complete step. Where the segment is not at its end, the next one is asked for first,
     * into the other buffer, so that the kernel works while this one is read.
     */
    private void takeStep(int slot, Consumer<ResultBatch> sink) {
        int buffer = resultBuffers[slot];
        StepCompletion completion = slots.completion(slot, buffer);
        lease.ring().release(tickets[slot]);
        if (!completion.isOk()) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST,
                    "a segment arrives on the device as it was written: status="
                            + completion.status());
        }
        int completedRows = completion.completedRows();
        if (completedRows < rowsOf(slot)) {
            resultBuffers[slot] = 1 - buffer;
            post(slot, true);
        }
        long stepNs = completion.busyNs();
        busyNs += stepNs;
        doneSteps.accept(new DoneStep(slot, completion.block(), completion.startedNs(), stepNs));
        long given = completion.matchCount();
        resultsSoFar[slot] += given;
        results += given;
        rows += completedRows - rowsSoFar[slot];
        rowsSoFar[slot] = completedRows;
        ResultBatch batch = new ResultBatch(layout, slots.resultAddress(slot, buffer));
        batch.set(chunks.get(slot), completion.rowCount(), completedRows);
        sink.accept(batch);
    }

    private void checkLiveness(long startNs) {
        lease.requireRunning();
        if (System.nanoTime() - startNs > STALL_TIMEOUT_NS) {
            throw new GpuUnavailableException(
                    GpuFailure.KERNEL_STALLED,
                    "a step ends in time: timeoutNs=" + STALL_TIMEOUT_NS);
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
