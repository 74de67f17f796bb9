// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.AbstractBulkJoin;
import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.thread.UninterruptibleWait;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Joins two bounded inputs on the CPU with threads of its own, by radix partitions (the CPU radix
 * join that Thostrup et al. compare with, section 6).
 *
 * <pre>
 *   chunk -- idle lane: RadixPartitioner --> partitions of both inputs
 *   finish: lanes reserve tables
 *   partition -- next lane: PartitionJoin --> results, a few of which wait for poll
 * </pre>
 *
 * <p>All memory that grows with the inputs is native and comes from the allocator. If there is a
 * directory of files, a lane whose partitions exceed its share of half of the memory spills them;
 * the tables of partitions use the rest. Otherwise a join that exceeds its memory fails. Tables are
 * allocated before the first result.
 */
public final class CpuRadixJoin extends AbstractBulkJoin {

    private static final AtomicInteger NEXT_THREAD = new AtomicInteger();

    private final RadixJoinOptions options;
    private final Allocator allocator;
    private final List<RadixLane> lanes = new ArrayList<>();
    private final BlockingQueue<RadixLane> idleLanes;
    private final ExecutorService threads;

    /** Results that wait for {@link #poll}; an empty one is the last. */
    private final BlockingQueue<Optional<BulkResult>> results;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private boolean isExhausted;

    /**
     * @param allocator of all memory that grows with the data
     * @throws EngineUnavailableException if not even the buffers of the threads fit
     */
    public CpuRadixJoin(BulkJoinSpec spec, RadixJoinOptions options, Allocator allocator) {
        super(spec);
        this.options = options;
        this.allocator = allocator;
        long shareBytes = allocator.availableBytes() / 2 / options.threads();
        for (int i = 0; i < options.threads(); i++) {
            lanes.add(new RadixLane(spec, options, shareBytes, allocator));
        }
        requireBuffers();
        this.idleLanes = new ArrayBlockingQueue<>(options.threads(), false, lanes);
        this.results = new ArrayBlockingQueue<>(2 * options.threads());
        this.threads = Executors.newFixedThreadPool(options.threads(), CpuRadixJoin::newThread);
    }

    private void requireBuffers() {
        long bufferBytes = lanes.stream().mapToLong(RadixLane::bufferBytes).sum();
        if (bufferBytes > allocator.availableBytes()) {
            throw new EngineUnavailableException(
                    EngineUnavailableException.Scope.NO_MEMORY,
                    "Buffers to partition exceed the memory: availableBytes=%d, bufferBytes=%d,"
                                    .formatted(allocator.availableBytes(), bufferBytes)
                            + " threads="
                            + options.threads()
                            + ". Allow twice the buffers or more, or use fewer threads.",
                    null);
        }
    }

    private static Thread newThread(Runnable task) {
        Thread thread = new Thread(task, "cpu-radix-join-" + NEXT_THREAD.getAndIncrement());
        thread.setDaemon(true);
        return thread;
    }

    // ------------------------------------------------------------------ partition

    @Override
    protected void append(JoinSide side, Chunk chunk) throws InterruptedException {
        RadixLane lane = idleLanes.take();
        throwFailure();
        Partitioning task =
                new Partitioning(lane, side, chunk.isTransient() ? chunk.onHeap() : chunk);
        try {
            threads.execute(task);
        } catch (Throwable e) {
            task.release(); // no thread could be started
            throw e;
        }
    }

    /** Partitions a chunk. It is the user of the chunk until a thread has run it, or none will. */
    private final class Partitioning implements Runnable {

        private final RadixLane lane;
        private final JoinSide side;
        private final AtomicReference<Chunk> chunk;

        Partitioning(RadixLane lane, JoinSide side, Chunk chunk) {
            this.lane = lane;
            this.side = side;
            this.chunk = new AtomicReference<>(chunk);
            chunk.retain();
        }

        @Override
        public void run() {
            try {
                lane.append(side, chunk.get());
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            } finally {
                release();
                idleLanes.add(lane);
            }
        }

        /** Releases the chunk unless it is released. */
        void release() {
            Chunk released = chunk.getAndSet(null);
            if (released != null) {
                released.release();
            }
        }
    }

    private void throwFailure() {
        Throwable cause = failure.get();
        if (cause instanceof MemoryRefusedException) {
            throw new MemoryRefusedException(cause.getMessage(), cause);
        }
        if (cause instanceof EngineUnavailableException unavailable) {
            throw new EngineUnavailableException(
                    unavailable.scope(), unavailable.getMessage(), unavailable);
        }
        if (cause != null) {
            throw new IllegalStateException("A thread of the bulk join failed: " + cause, cause);
        }
    }

    // ------------------------------------------------------------------ join

    @Override
    protected BulkJoinPlan start() throws InterruptedException {
        for (int i = 0; i < lanes.size(); i++) {
            idleLanes.take();
        }
        throwFailure();
        Map<JoinSide, List<PartitionStore>> stores = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            stores.put(side, lanes.stream().map(lane -> lane.store(side)).toList());
        }
        for (RadixLane lane : lanes) {
            lane.openWriter(result -> results.put(Optional.of(result)));
        }
        JoinPlan plan = reserveOrSpill(stores);
        Queue<Integer> ordinary = plan.ordinaryPartitions();
        AtomicInteger joining = new AtomicInteger(plan.lanes());
        for (int i = 0; i < plan.lanes(); i++) {
            RadixLane lane = lanes.get(i);
            List<Queue<Integer>> partitions =
                    i == 0 ? List.of(plan.largePartitions(), ordinary) : List.of(ordinary);
            threads.execute(() -> join(lane, stores, partitions, joining));
        }
        return new BulkJoinPlan(BulkAlgorithm.CPU_RADIX, plan.reason(spilledBytes()));
    }

    /** Spills all partitions if one is spilled, or if the rest of the memory limits the join. */
    private JoinPlan reserveOrSpill(Map<JoinSide, List<PartitionStore>> stores)
            throws InterruptedException {
        boolean canSpill = options.spillDirectory() != null;
        if (canSpill && spilledBytes() == 0) {
            try {
                JoinPlan plan = plan(stores);
                if (!plan.isLimited(lanes.size())) {
                    return reserve(plan);
                }
            } catch (MemoryRefusedException e) {
                lanes.forEach(RadixLane::unreserve);
            }
        }
        if (canSpill) {
            spill();
        }
        return reserve(plan(stores));
    }

    private JoinPlan plan(Map<JoinSide, List<PartitionStore>> stores) {
        return new JoinPlan(
                spec().kind(),
                stores,
                lanes.get(0).layouts(),
                options.partitions(),
                lanes.size(),
                allocator.availableBytes());
    }

    /** Returns the plan. */
    private JoinPlan reserve(JoinPlan plan) {
        for (int i = 0; i < plan.lanes(); i++) {
            lanes.get(i).reserve(plan.tableBytes(i), plan.blockBytes());
        }
        return plan;
    }

    private void spill() throws InterruptedException {
        for (RadixLane lane : lanes) {
            lane.spill();
        }
    }

    private void join(
            RadixLane lane,
            Map<JoinSide, List<PartitionStore>> stores,
            List<Queue<Integer>> partitions,
            AtomicInteger joining) {
        try {
            lane.join(stores, partitions);
            if (joining.decrementAndGet() == 0) {
                results.put(Optional.empty());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // by close
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            results.offer(Optional.empty()); // wakes a caller of poll, who waits if there are none
        }
    }

    @Override
    protected @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
        Optional<BulkResult> result = results.poll(timeoutNs, TimeUnit.NANOSECONDS);
        throwFailure();
        if (result == null) {
            return null;
        }
        isExhausted = result.isEmpty();
        return result.orElse(null);
    }

    @Override
    protected boolean isExhausted() {
        return isExhausted;
    }

    // ------------------------------------------------------------------ memory

    @Override
    protected long memoryBytes() {
        return lanes.stream().mapToLong(RadixLane::memoryBytes).sum();
    }

    @Override
    protected long spilledBytes() {
        return lanes.stream().mapToLong(RadixLane::spilledBytes).sum();
    }

    @Override
    protected void release() {
        for (Runnable queued : threads.shutdownNow()) {
            if (queued instanceof Partitioning partitioning) {
                partitioning.release();
            }
        }
        // Tasks check their interrupt before each slice of a chunk and each block of tuples.
        UninterruptibleWait.untilTerminated(threads);
        Closing.all(lanes, RadixLane::close);
    }
}
