// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Times building and probing by themselves, beside a memory copy of the same run; a tool for tuning
 * the engine, not a test. Tuples are of 16 bytes, build keys unique, probe keys uniform.
 *
 * <p>Arguments, all {@code name=value}: keys (dense, sparse, random), buildRows, probeRows,
 * threads, chunkBytes, rounds, hitPercent, payloadBytes (4 or 8 with keys of the same width), kind.
 */
public final class CpuJoinEngineProfile {

    private static final int POOL_BYTES = 128 << 20;
    private static final long SEED = 42;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final String keys;
    private final int buildRows;
    private final long probeRows;
    private final int threads;
    private final int chunkBytes;
    private final int rounds;
    private final int hitPercent;
    private final JoinKind kind;
    private final ColumnType type;
    private final ChunkSchema schema;

    private CpuJoinEngineProfile(String[] args) {
        List<String> options = Arrays.asList(args);
        this.keys = option(options, "keys", "sparse");
        this.buildRows = Integer.parseInt(option(options, "buildRows", "1000000"));
        this.probeRows = Long.parseLong(option(options, "probeRows", "50000000"));
        this.threads = Integer.parseInt(option(options, "threads", "2"));
        this.chunkBytes = Integer.parseInt(option(options, "chunkBytes", "262144"));
        this.rounds = Integer.parseInt(option(options, "rounds", "5"));
        this.hitPercent = Integer.parseInt(option(options, "hitPercent", "100"));
        this.kind = JoinKind.valueOf(option(options, "kind", "inner").toUpperCase(Locale.ROOT));
        boolean narrow = option(options, "payloadBytes", "8").equals("4");
        this.type = narrow ? ColumnType.INT32 : ColumnType.INT64;
        this.schema = ChunkSchema.of(Column.of("key", type), Column.of("payload", type));
    }

    private static String option(List<String> options, String name, String value) {
        return options.stream()
                .filter(o -> o.startsWith(name + "="))
                .map(o -> o.substring(name.length() + 1))
                .findFirst()
                .orElse(value);
    }

    public static void main(String[] args) throws Exception {
        new CpuJoinEngineProfile(args).run();
    }

    private long key(int id) {
        return switch (keys) {
            case "dense" -> id;
            case "sparse" -> 7L * id + 1;
            case "random" ->
                    type == ColumnType.INT32
                            ? id * 0x9E3779B1
                            : KeyHash.hash(id * 0x9E3779B97F4A7C15L);
            default -> throw new IllegalArgumentException("keys=" + keys);
        };
    }

    private void run() throws Exception {
        JoinSpec spec =
                new JoinSpec(schema, List.of(new DimensionSpec("build", schema, 0, 0, kind)));
        List<Chunk> build = chunks(permuted(buildRows));
        int[] sample = new int[(int) Math.min(probeRows, POOL_BYTES / schema.fixedRowBytes())];
        SplittableRandom random = new SplittableRandom(SEED);
        int domain = (int) (buildRows * 100L / hitPercent);
        Arrays.setAll(sample, i -> random.nextInt(domain));
        List<Chunk> probe = chunks(sample);
        double copyGbPerSecond = copyRate();
        double bestBuild = 0;
        try (CpuJoinEngine engine = new CpuJoinEngine(spec)) {
            build.forEach(chunk -> engine.submitBuild(0, chunk));
            engine.finishBuild();
            System.out.printf(
                    "table bytes/build byte %.2f%n",
                    (double) engine.stats().tableBytes() / engine.stats().buildBytes());
            double[] rates = new double[rounds];
            double[] cpuRates = new double[rounds];
            for (int round = 0; round < rounds; round++) {
                double[] rate = probeRate(engine, probe);
                rates[round] = rate[0];
                cpuRates[round] = rate[1];
            }
            Arrays.sort(rates);
            Arrays.sort(cpuRates);
            double median = rates[rounds / 2];
            System.out.printf(
                    "RESULT kind=%s keys=%s threads=%d probe M/s: median %.1f best %.1f, by CPU time median"
                            + " %.1f best %.1f; copy %.1f GB/s, probe bytes/copied bytes %.3f%n",
                    kind,
                    keys,
                    threads,
                    median / 1e6,
                    rates[rounds - 1] / 1e6,
                    cpuRates[rounds / 2] / 1e6,
                    cpuRates[rounds - 1] / 1e6,
                    copyGbPerSecond,
                    median * schema.fixedRowBytes() / (copyGbPerSecond * 1e9));
        }
        for (int round = 0; round < rounds; round++) {
            long start = THREADS.getCurrentThreadCpuTime();
            try (CpuJoinEngine engine = new CpuJoinEngine(spec)) {
                build.forEach(chunk -> engine.submitBuild(0, chunk));
                engine.finishBuild();
                long cpuNs = THREADS.getCurrentThreadCpuTime() - start;
                bestBuild = Math.max(bestBuild, buildRows * 1e9 / cpuNs);
            }
        }
        System.out.printf("build M rows/s, by CPU time: best %.1f%n", bestBuild / 1e6);
    }

    private static int[] permuted(int count) {
        int[] ids = new int[count];
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < count; i++) {
            int j = random.nextInt(i + 1);
            ids[i] = ids[j];
            ids[j] = i;
        }
        return ids;
    }

    private List<Chunk> chunks(int[] ids) {
        ChunkBuilder builder = new ChunkBuilder(schema, chunkBytes);
        List<Chunk> chunks = new ArrayList<>();
        for (int id : ids) {
            for (int column = 0; column < 2; column++) {
                long value = column == 0 ? key(id) : id;
                if (type == ColumnType.INT64) {
                    builder.putLong(column, value);
                } else {
                    builder.putInt(column, (int) value);
                }
            }
            builder.endRow();
            if (builder.isFull()) {
                chunks.add(builder.seal(ChunkDescriptor.FACTS, -1, 0, chunks.size()));
            }
        }
        if (!builder.isEmpty()) {
            chunks.add(builder.seal(ChunkDescriptor.FACTS, -1, 0, chunks.size()));
        }
        return chunks;
    }

    /**
     * Tuples a second of all threads together, by the clock and as if each thread had had a core of
     * its own.
     */
    private double[] probeRate(CpuJoinEngine engine, List<Chunk> chunks) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Callable<long[]>> tasks = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            CpuJoinEngine fork = engine.fork();
            int first = t * chunks.size() / threads;
            tasks.add(() -> probe(fork, chunks, first, probeRows / threads));
        }
        long start = System.nanoTime();
        long probed = 0;
        long count = 0;
        long sum = 0;
        long cpuNs = 0;
        for (Future<long[]> future : pool.invokeAll(tasks)) {
            probed += future.get()[0];
            count += future.get()[1];
            sum += future.get()[2];
            cpuNs += future.get()[3];
        }
        long elapsed = System.nanoTime() - start;
        pool.shutdown();
        long matched = kind == JoinKind.ANTI ? 0 : probed;
        if (hitPercent == 100 && (count != matched || sum == 0 && matched > 0)) {
            throw new IllegalStateException("count=" + count + ", probed=" + probed);
        }
        return new double[] {probed * 1e9 / elapsed, threads * probed * 1e9 / cpuNs};
    }

    private long[] probe(CpuJoinEngine engine, List<Chunk> chunks, int first, long rows) {
        long probed = 0;
        long count = 0;
        long sum = 0;
        long startCpuNs = THREADS.getCurrentThreadCpuTime();
        try (engine) {
            for (int next = first; probed < rows; next++) {
                Chunk chunk = chunks.get(next % chunks.size());
                engine.submitProbe(chunk, 0);
                for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                    count += batch.rowCount();
                    sum += sum(batch);
                }
                probed += chunk.rowCount();
            }
        }
        return new long[] {probed, count, sum, THREADS.getCurrentThreadCpuTime() - startCpuNs};
    }

    private long sum(ResultBatch batch) {
        long sum = 0;
        long address = kind.keepsPayload() ? batch.payloadAddress(0, 0) : batch.probeRowAddress();
        if (kind.keepsPayload() && type == ColumnType.INT64) {
            for (int i = 0; i < batch.rowCount(); i++) {
                sum += Memory.getLong(address + 8L * i);
            }
        } else {
            for (int i = 0; i < batch.rowCount(); i++) {
                sum += Memory.getInt(address + 4L * i);
            }
        }
        return sum;
    }

    /** Bytes copied a second by as many threads as probe, each between its own buffers. */
    private double copyRate() throws Exception {
        long lengthBytes = 64 << 20;
        int repeats = 10;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        double best = 0;
        try (Region source = Region.allocateZeroed(lengthBytes);
                Region target = Region.allocateZeroed(lengthBytes)) {
            long share = lengthBytes / threads;
            for (int r = 0; r < repeats; r++) {
                List<Callable<Void>> tasks = new ArrayList<>();
                for (int t = 0; t < threads; t++) {
                    long at = t * share;
                    tasks.add(
                            () -> {
                                long from = source.address() + at;
                                Memory.copy(null, from, null, target.address() + at, share);
                                return null;
                            });
                }
                long start = System.nanoTime();
                for (Future<Void> future : pool.invokeAll(tasks)) {
                    future.get();
                }
                best = Math.max(best, (double) lengthBytes / (System.nanoTime() - start));
            }
        }
        pool.shutdown();
        return best;
    }
}
