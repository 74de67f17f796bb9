// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.binding.KernelImage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A device and the memory of one bulk join on it. The serving kernel of streaming joins occupies
 * the whole device, so it is stopped while the bulk join allocates or computes. Copies of runs, and
 * actions while the kernel is stopped, may come from any thread; opening and closing from one.
 */
final class BulkDevice implements AutoCloseable {

    /** Shared memory of a block that the kernels need, as in {@code join_plan.h}. */
    static final int SHARED_BYTES = 163 << 10;

    private final DeviceLease lease;
    private final GpuOptions options;
    private final MemoryLimits limits;

    /** Owners of all memory of the join. */
    private final List<Buffers> owners = new CopyOnWriteArrayList<>();

    private final Buffers mailboxBuffers;

    private final BulkThreads threads;

    private final AtomicLongArray waitedNs = new AtomicLongArray(BulkWait.values().length);

    private final WordCopies words;

    private boolean isClosed;

    /**
     * @param lease released by {@link #close}, and here if the constructor fails
     * @param threads that copy between chunks and pinned memory, shared by the devices of a join
     */
    BulkDevice(
            DeviceLease lease,
            GpuOptions options,
            MemoryReservations hostMemory,
            BulkThreads threads) {
        this(
                lease,
                options,
                hostMemory,
                threads,
                List.of(KernelImage.RESIDENT, KernelImage.BULK),
                SHARED_BYTES);
    }

    /**
     * Does the same for other kernels.
     *
     * @param images of the kernels
     * @param sharedBytes shared memory of a block that they need
     */
    BulkDevice(
            DeviceLease lease,
            GpuOptions options,
            MemoryReservations hostMemory,
            BulkThreads threads,
            List<KernelImage> images,
            int sharedBytes) {
        this.lease = lease;
        this.options = options;
        this.limits = new MemoryLimits(options.memory(), hostMemory);
        this.threads = threads;
        this.mailboxBuffers = lease.memory().buffers(limits);
        owners.add(mailboxBuffers);
        BulkMemory mailboxMemory = new BulkMemory(this, mailboxBuffers);
        try {
            whileAllStopped(
                    () -> {
                        requireSharedMemory(sharedBytes);
                        images.forEach(driver()::load);
                    });
            this.words =
                    new Mailbox(
                            driver(),
                            mailboxMemory.allocatePinned(Mailbox.LENGTH_BYTES),
                            this::awaitIdle);
        } catch (Throwable e) {
            lease.release();
            throw e;
        }
    }

    /** A launch that requests more would fail like one on a lost device. */
    private void requireSharedMemory(int neededBytes) {
        int deviceBytes = driver().blockSharedBytes();
        if (deviceBytes < neededBytes) {
            throw new GpuUnavailableException(
                    GpuFailure.NO_KERNEL_IMAGE,
                    "Blocks of the device have too little shared memory for bulk joins: bytes=%d, neededBytes=%d. Use a data centre GPU, such as one of compute capability 8.0, 9.0 or 10.0."
                            .formatted(deviceBytes, neededBytes));
        }
    }

    DevicePart part() {
        return lease.device();
    }

    CudaDriver driver() {
        return lease.driver();
    }

    int multiprocessors() {
        return driver().multiprocessors();
    }

    /** Returns the threads that copy between chunks and pinned memory. */
    BulkThreads threads() {
        return threads;
    }

    /** Returns an allocator of unpinned host memory within the limits. */
    Allocator hostMemory() {
        return lease.memory().hostWithin(limits);
    }

    /** Returns the bytes of device and pinned memory. Any thread may call. */
    long memoryBytes() {
        return owners.stream().mapToLong(Buffers::lengthBytes).sum();
    }

    /** Returns an owner of memory, which is freed with it, and at last by {@link #close}. */
    BulkMemory newMemory() {
        Buffers buffers = lease.memory().buffers(limits);
        owners.add(buffers);
        return new BulkMemory(this, buffers);
    }

    /** Forgets an owner without memory. */
    void remove(Buffers owner) {
        owners.remove(owner);
    }

    /** Returns the device memory that may still be allocated, as far as the budget is concerned. */
    long availableBytes() {
        return lease.memory().availableDeviceBytes(options.memory());
    }

    /** Queues a copy from pinned memory, and returns its number. */
    long startCopy(long deviceAddress, long pinnedAddress, long lengthBytes) {
        return startCopy(
                () -> driver().startCopyToDevice(deviceAddress, pinnedAddress, lengthBytes));
    }

    /**
     * Waits for a queued copy.
     *
     * @param copy its number, or {@link RunSink#NO_COPY}
     */
    void awaitCopy(long copy) throws InterruptedException {
        await(() -> copy < 0 || driver().hasCopied(copy));
    }

    /** Whether a queued copy has ended, as {@link #awaitCopy}; does not wait. */
    boolean isCopied(long copy) {
        return copy < 0 || guarded(() -> driver().hasCopied(copy));
    }

    /** Queues a copy to pinned memory, and returns its number. */
    long startCopyToHost(long pinnedAddress, long deviceAddress, long lengthBytes) {
        return startCopy(() -> driver().startCopyToHost(pinnedAddress, deviceAddress, lengthBytes));
    }

    private long startCopy(Supplier<Long> call) {
        return timed(BulkWait.COPY_CALLS, () -> guarded(call));
    }

    /** Waits for a queued copy to pinned memory. */
    void awaitCopyToHost(long copy) throws InterruptedException {
        await(() -> driver().hasCopiedToHost(copy));
    }

    private void await(Supplier<Boolean> isOver) throws InterruptedException {
        if (guarded(isOver)) {
            return;
        }
        long startNs = System.nanoTime();
        try {
            while (!guarded(isOver)) {
                checkInterrupt();
                Backoff.pause(System.nanoTime() - startNs);
            }
        } finally {
            waited(BulkWait.BUS, startNs);
        }
    }

    /** Waits for all queued copies, so that kernels see the copied bytes. */
    void awaitCopies() {
        guarded(
                () -> {
                    driver().awaitCopies();
                    return true;
                });
    }

    /** Copies host memory to the device, for kernels that are launched afterwards. */
    void copyToDevice(long deviceAddress, Region source) {
        launch(() -> words.toDevice(deviceAddress, source.address(), source.lengthBytes()));
    }

    /** Copies device memory to the host after all launched kernels, and waits for it. */
    void copyToHost(Region target, long deviceAddress) {
        run(() -> words.toHost(target.address(), deviceAddress, target.lengthBytes()));
    }

    /** Reads a word of device memory after all launched kernels. */
    long read(long deviceAddress) {
        try (Region region = Region.allocate(Long.BYTES)) {
            copyToHost(region, deviceAddress);
            return Memory.getLong(region.address());
        }
    }

    /** Copies words; called while the serving kernel is stopped. */
    WordCopies words() {
        return words;
    }

    /** Throws if the thread is interrupted. A join checks it between launches. */
    static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("Interrupted during a bulk join");
        }
    }

    /**
     * Launches kernels, and waits until they and those before have ended.
     *
     * @throws GpuUnavailableException if the device fails or a kernel stalls
     */
    void run(Runnable launches) {
        timed(
                BulkWait.KERNELS,
                () -> {
                    whileStopped(
                            () -> {
                                launches.run();
                                awaitIdle();
                            });
                    return null;
                });
    }

    private void awaitIdle() {
        lease.awaitIdle(options.stallTimeoutNs());
    }

    /** Launches kernels, which run after those before. */
    void launch(Runnable launches) {
        whileStopped(launches);
    }

    /** Waits until all launched kernels have ended. */
    void awaitKernels() {
        run(() -> {});
    }

    /** Runs an action, and counts its time. */
    <T> T timed(BulkWait wait, Supplier<T> action) {
        long startNs = System.nanoTime();
        T result = action.get();
        waited(wait, startNs);
        return result;
    }

    /** Counts a wait that ends now. */
    void waited(BulkWait wait, long startNs) {
        waitedNs.addAndGet(wait.ordinal(), System.nanoTime() - startNs);
    }

    /** Returns the time in nanoseconds that the join has waited. Any thread may call. */
    long waitedNs(BulkWait wait) {
        return waitedNs.get(wait.ordinal());
    }

    /**
     * Runs an action while the serving kernel of this device is stopped. Bulk joins on devices with
     * access to this one continue meanwhile, so the action neither allocates nor frees memory.
     */
    void whileStopped(Runnable action) {
        lease.whileThisStopped(true, true, options.stallTimeoutNs(), action);
    }

    /** Does the same, and returns a value. */
    <T> T whileStopped(Supplier<T> action) {
        return valueOf(action, this::whileStopped);
    }

    /**
     * Runs an action that allocates or frees memory, while the kernels of this device and of those
     * with access to it are stopped. Not inside {@link #whileStopped}.
     */
    void whileAllStopped(Runnable action) {
        lease.whileStopped(options.stallTimeoutNs(), action);
    }

    /** Does the same, and returns a value. */
    <T> T whileAllStopped(Supplier<T> action) {
        return valueOf(action, this::whileAllStopped);
    }

    private static <T> T valueOf(Supplier<T> action, Consumer<Runnable> runner) {
        Object[] result = new Object[1];
        runner.accept(() -> result[0] = action.get());
        @SuppressWarnings("unchecked")
        T value = (T) result[0];
        return value;
    }

    private <T> T guarded(Supplier<T> call) {
        try {
            return call.get();
        } catch (GpuUnavailableException e) {
            if (e.failure() == GpuFailure.DEVICE_LOST) {
                lease.lose();
            }
            throw e;
        }
    }

    /** Frees the memory of all owners, so that others can use the device for the same join. */
    void freeMemory() {
        whileAllStopped(
                () -> {
                    awaitIdle();
                    owners.stream().filter(o -> o != mailboxBuffers).forEach(Buffers::close);
                    owners.removeIf(o -> o != mailboxBuffers);
                });
    }

    /**
     * Frees all memory, which no thread uses; drops that of a lost device. A second call has no
     * effect.
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            if (lease.isLost()) {
                owners.forEach(Buffers::abandon);
            } else {
                driver().awaitCopies();
                whileAllStopped(
                        () -> {
                            awaitIdle();
                            owners.forEach(Buffers::close);
                        });
            }
        } catch (GpuUnavailableException e) {
            owners.forEach(Buffers::abandon);
        } finally {
            lease.release();
        }
    }
}
