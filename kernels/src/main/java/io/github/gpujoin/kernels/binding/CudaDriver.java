package io.github.gpujoin.kernels.binding;

/**
 * One device through the CUDA driver: memory, copies and kernel launches on one stream of its own,
 * and copies that run beside them on two others.
 *
 * <p>Addresses are unified: what {@link #allocatePinned} gives is valid for the CPU and for
 * kernels. Any thread may call; calls that free or copy memory may wait for running kernels, so a
 * kernel that does not end on its own must have been stopped.
 *
 * <p>Every method throws {@link GpuUnavailableException} where the driver refuses.
 */
public interface CudaDriver extends AutoCloseable {

    String deviceName();

    int multiprocessors();

    /** Device memory that is free, of all processes together. */
    long freeBytes();

    /** Device memory of unspecified content, aligned to 256 bytes. */
    long allocateDevice(long lengthBytes);

    void freeDevice(long address);

    /** Page-locked host memory of unspecified content, mapped for the device. */
    long allocatePinned(long lengthBytes);

    void freePinned(long address);

    /** Copies after all that was launched, and waits for the copy. */
    void copyToDevice(long deviceAddress, long hostAddress, long lengthBytes);

    /** Copies after all that was launched, and waits for the copy. */
    void copyToHost(long hostAddress, long deviceAddress, long lengthBytes);

    /**
     * Queues a copy from pinned memory, which runs beside launched kernels and after the copies
     * that were started before it.
     *
     * @return the copy's number, for {@link #hasCopied}
     */
    long startCopyToDevice(long deviceAddress, long pinnedAddress, long lengthBytes);

    /**
     * Whether a started copy is over, and with it all before it. Does not wait. A kernel that
     * learns of it from the asking thread sees what was copied, also one that runs already.
     */
    boolean hasCopied(long copy);

    /**
     * Waits for all started copies, those of other threads too; what is launched next sees them.
     */
    void awaitCopies();

    /**
     * Copies to pinned memory beside launched kernels, and waits for the copy alone: also while a
     * kernel runs that does not end on its own.
     */
    void copyToHostBeside(long pinnedAddress, long deviceAddress, long lengthBytes);

    /** What network cards can do with this device's memory. */
    GpuDirectSupport gpuDirect();

    /** Fills after all that was launched; what is launched next sees it. */
    void fillDevice(long deviceAddress, byte value, long lengthBytes);

    /**
     * Queues a kernel.
     *
     * @param kernel name in the image
     * @param arguments in the kernel's order; every parameter has 8 bytes
     */
    void launch(String kernel, int blocks, int threads, long... arguments);

    /** Whether all launched kernels have ended. */
    boolean isIdle();

    /** Lets go of the device. What was allocated must have been freed. */
    @Override
    void close();
}
