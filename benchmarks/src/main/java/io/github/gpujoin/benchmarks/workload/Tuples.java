// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.slot.SlotPool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The two relations, in columnar chunks on the heap: build tuples with unique keys in random order,
 * probe tuples whose keys are uniform over the build keys, so that each matches exactly once.
 *
 * <p>Made once, before anything is timed. Contenders that take columns are handed these chunks;
 * contenders that take rows pay for making a row out of two columns, as any row source does.
 *
 * <p>The expected answer is summed while the tuples are drawn, from the build tuple that each probe
 * key was drawn from: no join takes part in it. Immutable, so threads may share it. The same
 * arguments give the same tuples.
 */
public final class Tuples implements AutoCloseable {

    /** 256 KiB of tuples a chunk. */
    public static final int CHUNK_ROWS = 16_384;

    /** So that sums over billions of rows fit in 63 bits. */
    private static final int PAYLOAD_BITS = 31;

    private final List<Chunk> build;

    /** Without repetitions. */
    private final List<Chunk> distinctProbe;

    private final List<JoinAnswer> distinctAnswers;
    private final int repetitions;

    /** Null if the probe tuples are on the heap. */
    private final @Nullable SlotPool slots;

    /** Whether the probe tuples are encoded. */
    private final boolean encodes;

    private final Queue<Chunk> primes = new ConcurrentLinkedQueue<>();

    private Tuples(
            List<Chunk> build,
            List<Chunk> distinctProbe,
            List<JoinAnswer> distinctAnswers,
            int repetitions,
            @Nullable SlotPool slots,
            boolean encodes) {
        this.slots = slots;
        this.encodes = encodes;
        this.build = List.copyOf(build);
        this.distinctProbe = List.copyOf(distinctProbe);
        this.distinctAnswers = List.copyOf(distinctAnswers);
        this.repetitions = repetitions;
    }

    /**
     * Draws the tuples.
     *
     * @param buildRows from 1 to {@link Integer#MAX_VALUE} - 8
     * @param probeRows at least 1
     */
    public static Tuples generate(int buildRows, long probeRows, KeyDomain domain, long seed) {
        return generate(buildRows, probeRows, domain, PAYLOAD_BITS, seed);
    }

    /**
     * Draws the tuples.
     *
     * @param payloadBits of build and probe payloads, at most 31
     */
    public static Tuples generate(
            int buildRows, long probeRows, KeyDomain domain, int payloadBits, long seed) {
        if (buildRows < 1 || buildRows > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "Invalid number of build rows: buildRows=" + buildRows);
        }
        if (probeRows < 1) {
            throw new IllegalArgumentException("No probe rows: probeRows=" + probeRows);
        }
        SplittableRandom random = new SplittableRandom(seed);
        long salt = random.nextLong();
        long payloadMask = (1L << payloadBits) - 1;
        List<Chunk> build = new ArrayList<>();
        int[] order = shuffled(buildRows, random);
        ChunkBuilder builder = chunkBuilder(TupleSchemas.BUILD);
        for (int id : order) {
            append(builder, domain.key(id), payload(id, salt) & payloadMask);
            sealIfDue(builder, 0, build, buildRows);
        }
        List<Chunk> probe = new ArrayList<>();
        List<JoinAnswer> answers = new ArrayList<>();
        drawProbes(buildRows, probeRows, domain, salt, payloadMask, random, probe, answers);
        return new Tuples(build, probe, answers, 1, null, false);
    }

    private static void drawProbes(
            int buildRows,
            long probeRows,
            KeyDomain domain,
            long salt,
            long payloadMask,
            SplittableRandom random,
            List<Chunk> probe,
            List<JoinAnswer> answers) {
        ChunkBuilder builder = chunkBuilder(TupleSchemas.PROBE);
        long sum = 0;
        for (long row = 0; row < probeRows; row++) {
            int id = random.nextInt(buildRows);
            long payload = random.nextLong() & payloadMask;
            append(builder, domain.key(id), payload);
            sum += payload + (payload(id, salt) & payloadMask);
            int rows = builder.rowCount();
            if (sealIfDue(builder, ChunkDescriptor.FACTS, probe, probeRows)) {
                answers.add(new JoinAnswer(rows, sum));
                sum = 0;
            }
        }
    }

    /**
     * Returns the same tuples, with all probe tuples that often in turn. Both share their chunks.
     *
     * @param repetitions at least 1
     */
    public Tuples repeated(int repetitions) {
        if (repetitions < 1 || slots != null) {
            throw new IllegalArgumentException(
                    "Only tuples on the heap are repeated, at least once: repetitions="
                            + repetitions);
        }
        return new Tuples(build, distinctProbe, distinctAnswers, repetitions, null, false);
    }

    /**
     * Returns the same tuples with the probe tuples in slots, as a source would write them that
     * knows the slots of its join. Close the result, after all joins that read it.
     *
     * @param primes count of chunks that {@link #asProbe} makes at once, in slots too
     */
    public Tuples inSlots(int primes) {
        return inSlots(primes, false);
    }

    /** Does the same with encoded probe tuples, as a source would write them that encodes. */
    public Tuples encodedInSlots(int primes) {
        return inSlots(primes, true);
    }

    private Tuples inSlots(int primes, boolean encodes) {
        int slotBytes = distinctProbe.stream().mapToInt(Chunk::lengthBytes).max().orElseThrow();
        SlotPool pool =
                new SlotPool(Allocator.unlimited(), distinctProbe.size() + primes, slotBytes);
        List<Chunk> inSlots = new ArrayList<>();
        for (Chunk chunk : distinctProbe) {
            inSlots.add(inSlot(chunk, pool, encodes));
        }
        return new Tuples(build, inSlots, distinctAnswers, repetitions, pool, encodes);
    }

    /** Returns a copy of a chunk, which is on the heap if no slot is free. */
    private static Chunk inSlot(Chunk chunk, SlotPool pool, boolean encodes) {
        byte[] bytes = encodes ? new ChunkEncoder().encode(chunk) : chunk.bytes();
        ChunkSlot slot = pool.tryAcquire(bytes.length);
        if (slot == null) {
            return ChunkDecoder.open(chunk.schema(), bytes);
        }
        Memory.copy(bytes, Memory.BYTES, null, slot.address(), bytes.length);
        return ChunkDecoder.inSlot(chunk.schema(), slot, bytes.length);
    }

    /** Frees the slots of the probe tuples, if they are in any. */
    @Override
    public void close() {
        distinctProbe.forEach(Chunk::release);
        primes.forEach(Chunk::release);
        if (slots != null) {
            slots.close();
        }
    }

    public List<Chunk> build() {
        return build;
    }

    public List<Chunk> probe() {
        return repeated(distinctProbe);
    }

    /** The probe rows without repetitions. */
    public long distinctProbeRows() {
        return rowCount(distinctProbe);
    }

    private <T> List<T> repeated(List<T> once) {
        return Collections.nCopies(repetitions, once).stream().flatMap(List::stream).toList();
    }

    /** Leading probe chunks with at least that many rows in sum, or all there are. */
    public List<Chunk> probe(long rows) {
        List<Chunk> probe = probe();
        long before = (rows - 1) / CHUNK_ROWS; // chunks before the one of the last row
        return before >= probe.size() ? probe : probe.subList(0, (int) before + 1);
    }

    /** The answer for the leading {@code chunks} probe chunks. */
    public JoinAnswer expected(int chunks) {
        return expected(chunks, chunk -> true);
    }

    /**
     * The answer for the leading {@code chunks} probe chunks, where payloads of some alone are
     * added up.
     *
     * @param isChecked whether those of the chunk with a number, from 0, are
     */
    public JoinAnswer expected(int chunks, IntPredicate isChecked) {
        List<JoinAnswer> answers = repeated(distinctAnswers);
        JoinAnswer sum = JoinAnswer.NOTHING;
        for (int chunk = 0; chunk < chunks; chunk++) {
            JoinAnswer answer = answers.get(chunk);
            sum = sum.plus(isChecked.test(chunk) ? answer : new JoinAnswer(answer.count(), 0));
        }
        return sum;
    }

    public long buildRows() {
        return rowCount(build);
    }

    public static long rowCount(List<Chunk> chunks) {
        return chunks.stream().mapToLong(Chunk::rowCount).sum();
    }

    /** Every {@code shares}-th chunk, from chunk {@code share} on: what one subtask reads. */
    public static List<Chunk> share(List<Chunk> chunks, int share, int shares) {
        List<Chunk> own = new ArrayList<>();
        for (int i = share; i < chunks.size(); i += shares) {
            own.add(chunks.get(i));
        }
        return own;
    }

    /**
     * The tuples of a build chunk as a probe chunk, each of which matches itself; in a slot if the
     * probe tuples are in slots, which is free again after {@link #close}.
     */
    public Chunk asProbe(Chunk build) {
        ChunkBuilder builder = chunkBuilder(TupleSchemas.PROBE);
        for (int row = 0; row < build.rowCount(); row++) {
            append(
                    builder,
                    build.getLong(TupleSchemas.KEY, row),
                    build.getLong(TupleSchemas.PAYLOAD, row));
        }
        Chunk onHeap =
                builder.seal(
                        ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, build.sequence());
        Chunk prime = slots == null ? onHeap : inSlot(onHeap, slots, encodes);
        primes.add(prime);
        return prime;
    }

    private static ChunkBuilder chunkBuilder(ChunkSchema schema) {
        return new ChunkBuilder(schema, CHUNK_ROWS * TupleSchemas.TUPLE_BYTES);
    }

    private static void append(ChunkBuilder builder, long key, long payload) {
        builder.putLong(TupleSchemas.KEY, key);
        builder.putLong(TupleSchemas.PAYLOAD, payload);
        builder.endRow();
    }

    private static boolean sealIfDue(
            ChunkBuilder builder, int dimension, List<Chunk> chunks, long totalRows) {
        long rows = (long) chunks.size() * CHUNK_ROWS + builder.rowCount();
        if (!builder.isFull() && rows < totalRows) {
            return false;
        }
        chunks.add(builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, chunks.size()));
        return true;
    }

    private static long payload(int id, long salt) {
        return KeyDomain.mix(id ^ salt);
    }

    private static int[] shuffled(int n, SplittableRandom random) {
        int[] order = new int[n];
        for (int i = 0; i < n; i++) {
            int j = random.nextInt(i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        return order;
    }
}
