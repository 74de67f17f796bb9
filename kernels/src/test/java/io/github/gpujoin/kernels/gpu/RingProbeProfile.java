package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Measures the serving kernel, and the engine around it, against the rate at which a kernel reads
 * mapped host memory in the same run. Not a test: {@code main} prints one RESULT line a figure.
 *
 * <p>The kernel alone is fed by posting the same verified segments again and again, so that no CPU
 * copy limits it; every count of matches is checked.
 */
public final class RingProbeProfile {

    private static final long TIMEOUT_NS = 20_000_000_000L;
    private static final long CASE_NS = 600_000_000L;
    private static final long KEY_FACTOR = 0x9E3779B97F4A7C15L;

    private RingProbeProfile() {}

    public static void main(String[] args) {
        int buildBits = args.length > 0 ? Integer.parseInt(args[0]) : 27;
        double readGbPerS = measureRead();
        DeviceLease lease = new DeviceLease(CudaDrivers.open(0), GpuOptions.defaults());
        try (Buffers tables = lease.memory().buffers(MemoryBudget.byMachine())) {
            measureOneDimension(lease, tables, buildBits, readGbPerS);
            measureChain(lease, tables, readGbPerS);
        }
        lease.release();
        measureEngine(Math.min(buildBits, 24));
        measureLatency();
    }

    private static double measureRead() {
        long bytes = 1L << 30;
        double best = 0;
        try (CudaDriver driver = CudaDrivers.open(0);
                Buffers buffers = new DeviceMemory(driver).buffers(MemoryBudget.byMachine())) {
            long words = buffers.pinned(bytes);
            long sum = buffers.device(Long.BYTES);
            for (long at = 0; at < bytes; at += 8) {
                Memory.putLong(words + at, at * KEY_FACTOR);
            }
            for (int blocks : new int[] {132, 264, 528, 1056}) {
                for (int repeat = 0; repeat < 3; repeat++) {
                    long start = System.nanoTime();
                    driver.launch("gpujoin_read", blocks, 256, words, bytes / 16, sum);
                    while (!driver.isIdle()) {
                        Thread.onSpinWait();
                    }
                    best = Math.max(best, bytes / (double) (System.nanoTime() - start));
                }
            }
        }
        print("read ceiling", "GB/s", best);
        return best;
    }

    private static Column column(String name, ColumnType type) {
        return Column.of(name, type);
    }

    /** Facts of 16 bytes, key and payload, against one table. */
    private static void measureOneDimension(
            DeviceLease lease, Buffers buffers, int buildBits, double readGbPerS) {
        ChunkSchema facts =
                ChunkSchema.of(
                        column("key", ColumnType.INT64), column("payload", ColumnType.INT64));
        DimensionSpec side = new DimensionSpec("d", facts, 0, 0, JoinKind.INNER);
        JoinSpec spec = new JoinSpec(facts, List.of(side));
        int buildRows = 1 << buildBits;
        List<GpuTable> tables = List.of(table(lease, buffers, side, buildRows));
        print("table bytes a row", "B", tables.get(0).lengthBytes() / (double) buildRows);
        Random random = new Random(1);
        for (int segmentRows : new int[] {2 << 10, 4 << 10, 8 << 10, 16 << 10}) {
            Chunk chunk =
                    chunk(
                            facts,
                            segmentRows,
                            (builder, row) -> {
                                long draw = random.nextInt(2 * buildRows);
                                builder.putLong(0, draw * KEY_FACTOR);
                                builder.putLong(1, row);
                            });
            FactSegments segments = new FactSegments(spec, List.of(1));
            for (int slots : new int[] {32, 64, 128, 256}) {
                for (boolean countOnly : new boolean[] {true, false}) {
                    String kind = countOnly ? "count" : "give";
                    String name = kind + " rows=" + segmentRows + " slots=" + slots;
                    serve(lease, spec, segments, tables, chunk, slots, countOnly, name, readGbPerS);
                }
            }
        }
    }

    /** Facts of four 4-byte keys: one of them joined, then all four, each against 2^20 rows. */
    private static void measureChain(DeviceLease lease, Buffers buffers, double readGbPerS) {
        List<Column> columns = new ArrayList<>();
        for (int c = 0; c < 4; c++) {
            columns.add(column("key" + c, ColumnType.INT32));
        }
        ChunkSchema facts = ChunkSchema.of(columns);
        ChunkSchema schema =
                ChunkSchema.of(column("key", ColumnType.INT32), column("value", ColumnType.INT32));
        Random random = new Random(2);
        int buildRows = 1 << 20;
        Chunk chunk =
                chunk(
                        facts,
                        8 << 10,
                        (builder, row) -> {
                            for (int c = 0; c < 4; c++) {
                                builder.putInt(c, random.nextInt(buildRows));
                            }
                        });
        for (int dimensions : new int[] {1, 4}) {
            List<DimensionSpec> sides = new ArrayList<>();
            List<GpuTable> tables = new ArrayList<>();
            for (int d = 0; d < dimensions; d++) {
                sides.add(new DimensionSpec("d" + d, schema, 0, d, JoinKind.INNER));
                tables.add(table(lease, buffers, sides.get(d), buildRows));
            }
            JoinSpec spec = new JoinSpec(facts, sides);
            FactSegments segments = new FactSegments(spec, List.of(0, 1, 2, 3));
            for (boolean countOnly : new boolean[] {true, false}) {
                String name = (countOnly ? "count" : "give") + " dimensions=" + dimensions;
                serve(lease, spec, segments, tables, chunk, 256, countOnly, name, readGbPerS);
            }
        }
    }

    private interface RowWriter {
        void write(ChunkBuilder builder, int row);
    }

    private static Chunk chunk(ChunkSchema schema, int rows, RowWriter writer) {
        ChunkBuilder builder = new ChunkBuilder(schema, rows * schema.fixedRowBytes());
        for (int row = 0; row < rows; row++) {
            writer.write(builder, row);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** A table of so many unique keys: the row's number, spread over all longs where they are. */
    private static GpuTable table(
            DeviceLease lease, Buffers buffers, DimensionSpec side, int buildRows) {
        boolean wide = side.schema().column(0).type() == ColumnType.INT64;
        int chunkRows = Math.min(buildRows, 64 << 10);
        BuildStream stream =
                new BuildStream(
                        lease, MemoryBudget.byMachine(), new BuildRowLayout(side), TIMEOUT_NS);
        for (int first = 0; first < buildRows; first += chunkRows) {
            int base = first;
            stream.append(
                    chunk(
                            side.schema(),
                            chunkRows,
                            (builder, row) -> {
                                if (wide) {
                                    builder.putLong(0, (base + row) * KEY_FACTOR);
                                    builder.putLong(1, base + row);
                                } else {
                                    builder.putInt(0, base + row);
                                    builder.putInt(1, base + row);
                                }
                            }));
        }
        stream.flush();
        GpuTable[] table = new GpuTable[1];
        lease.whileStopped(
                TIMEOUT_NS,
                () -> {
                    table[0] = GpuTableBuilder.build(lease, buffers, stream, false, TIMEOUT_NS);
                    stream.freeRuns();
                });
        stream.close();
        return table[0];
    }

    /** Keeps all slots busy with the same segment and prints the rate. */
    private static void serve(
            DeviceLease lease,
            JoinSpec spec,
            FactSegments segments,
            List<GpuTable> tables,
            Chunk chunk,
            int slotCount,
            boolean countOnly,
            String name,
            double readGbPerS) {
        int rows = chunk.rowCount();
        ResultLayout layout = new ResultLayout(spec, rows);
        Buffers buffers = lease.memory().buffers(MemoryBudget.byMachine());
        int segmentBytes = segments.lengthBytes(rows);
        SegmentSlots[] slots = new SegmentSlots[1];
        int[] plan = new int[1];
        lease.whileStopped(
                TIMEOUT_NS,
                () -> {
                    slots[0] = new SegmentSlots(buffers, slotCount, segmentBytes, layout);
                    plan[0] = lease.takePlan();
                    new JoinPlan(spec, segments, layout, tables, countOnly)
                            .write(lease.driver(), buffers, slots[0], lease.planAddress(plan[0]));
                });
        long epoch = lease.nextEpoch();
        long[] tickets = new long[slotCount];
        for (int slot = 0; slot < slotCount; slot++) {
            segments.write(chunk, 0, rows, slots[0].segmentAddress(slot), epoch, slot);
            tickets[slot] = post(lease, plan[0], slot, epoch, segmentBytes);
        }
        long matches = -1;
        long steps = 0;
        long warmUntil = System.nanoTime() + CASE_NS / 4;
        long start = 0;
        long now = warmUntil;
        while (start == 0 || now - start < CASE_NS) {
            for (int slot = 0; slot < slotCount; slot++) {
                if (isDone(slots[0], slot, tickets[slot])) {
                    matches = checkMatches(slots[0], slot, matches);
                    lease.ring().release(tickets[slot], 0);
                    tickets[slot] = post(lease, plan[0], slot, epoch, segmentBytes);
                    steps++;
                }
            }
            now = System.nanoTime();
            if (start == 0 && now > warmUntil) {
                start = now;
                steps = 0;
            }
        }
        double seconds = (now - start) / 1e9;
        for (int slot = 0; slot < slotCount; slot++) {
            while (!isDone(slots[0], slot, tickets[slot])) {
                lease.requireRunning();
            }
            lease.ring().release(tickets[slot], 0);
        }
        lease.whileStopped(
                TIMEOUT_NS,
                () -> {
                    buffers.close();
                    lease.freePlan(plan[0]);
                });
        double gbPerS = steps * (double) segmentBytes / seconds / 1e9;
        print(name, "G rows/s", steps * (double) rows / seconds / 1e9);
        print(name + " bus", "GB/s", gbPerS);
        print(name + " of read ceiling", "%", 100 * gbPerS / readGbPerS);
        print(name + " matches a row", "", matches / (double) rows);
    }

    private static long post(DeviceLease lease, int plan, int slot, long epoch, int lengthBytes) {
        return lease.ring()
                .post(
                        new StepRing.Step(
                                plan,
                                slot,
                                0,
                                false,
                                epoch,
                                slot,
                                0,
                                lengthBytes,
                                ChunkDescriptor.UNPARTITIONED));
    }

    private static boolean isDone(SegmentSlots slots, int slot, long ticket) {
        long completion = slots.completionAddress(slot, 0);
        return OrderedMemory.getLongAcquire(completion) == ticket + 1;
    }

    private static long checkMatches(SegmentSlots slots, int slot, long expected) {
        long completion = slots.completionAddress(slot, 0);
        int status = Memory.getInt(completion + StepDescriptor.COMPLETION_STATUS_OFFSET);
        long matches = Memory.getLong(completion + StepDescriptor.COMPLETION_MATCH_COUNT_OFFSET);
        if (status != StepDescriptor.STATUS_OK || expected >= 0 && matches != expected) {
            throw new IllegalStateException(
                    "every step counts the same: status=" + status + ", matches=" + matches);
        }
        return matches;
    }

    /** The whole engine on one thread: copies facts in, takes results out. */
    private static void measureEngine(int buildBits) {
        ChunkSchema facts =
                ChunkSchema.of(
                        column("key", ColumnType.INT64), column("payload", ColumnType.INT64));
        JoinSpec spec =
                new JoinSpec(facts, List.of(new DimensionSpec("d", facts, 0, 0, JoinKind.INNER)));
        int buildRows = 1 << buildBits;
        Random random = new Random(3);
        Chunk chunk =
                chunk(
                        facts,
                        64 << 10,
                        (builder, row) -> {
                            builder.putLong(0, random.nextInt(buildRows) * KEY_FACTOR);
                            builder.putLong(1, row);
                        });
        try (GpuJoinEngine engine = new GpuJoinEngine(spec, GpuOptions.defaults())) {
            for (int first = 0; first < buildRows; first += 64 << 10) {
                int base = first;
                engine.submitBuild(
                        0,
                        chunk(
                                facts,
                                64 << 10,
                                (builder, row) -> {
                                    builder.putLong(0, (base + row) * KEY_FACTOR);
                                    builder.putLong(1, base + row);
                                }));
            }
            engine.finishBuild();
            long start = System.nanoTime();
            long end = start + CASE_NS;
            while (System.nanoTime() < end) {
                while (engine.submitProbe(chunk, 0)) {}
                engine.poll();
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            long rows = engine.stats().probeRows();
            if (engine.stats().resultRows() < rows) {
                throw new IllegalStateException("every row finds its match");
            }
            print("engine on one thread", "G rows/s", rows / seconds / 1e9);
        }
    }

    /** One small chunk at a time: from submit to its result. */
    private static void measureLatency() {
        ChunkSchema facts = ChunkSchema.of(column("key", ColumnType.INT64));
        ChunkSchema schema =
                ChunkSchema.of(column("key", ColumnType.INT64), column("value", ColumnType.INT64));
        JoinSpec spec =
                new JoinSpec(facts, List.of(new DimensionSpec("d", schema, 0, 0, JoinKind.INNER)));
        Chunk probe = chunk(facts, 512, (builder, row) -> builder.putLong(0, row));
        try (GpuJoinEngine engine = new GpuJoinEngine(spec, GpuOptions.defaults())) {
            engine.submitBuild(
                    0,
                    chunk(
                            schema,
                            1000,
                            (builder, row) -> {
                                builder.putLong(0, row);
                                builder.putLong(1, row);
                            }));
            engine.finishBuild();
            long[] ns = new long[5000];
            for (int i = 0; i < ns.length; i++) {
                long start = System.nanoTime();
                engine.submitProbe(probe, 0);
                ResultBatch batch = engine.poll();
                while (batch == null) {
                    batch = engine.poll();
                }
                ns[i] = System.nanoTime() - start;
            }
            print("device time of a step", "us", engine.deviceBusyNs() / 1e3 / ns.length);
            Arrays.sort(ns, 2500, 5000);
            print("latency of 512 rows, median", "us", ns[3750] / 1e3);
            print("latency of 512 rows, 99 %", "us", ns[4975] / 1e3);
        }
    }

    private static void print(String name, String unit, double value) {
        System.out.printf(Locale.ROOT, "RESULT %s = %.3f %s%n", name, value, unit);
    }
}
