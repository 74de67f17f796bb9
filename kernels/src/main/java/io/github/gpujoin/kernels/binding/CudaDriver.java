// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

import io.github.gpujoin.core.region.Region;

/**
 * One device through the CUDA driver: memory, copies and kernel launches on one stream, and copies
 * on three other streams that run concurrently with kernels and with each other.
 *
 * <p>Addresses are unified: an address from {@link #allocatePinned} is valid for the CPU and for
 * kernels. Thread-safe. Calls that free or copy memory may wait for running kernels, so the caller
 * must first stop a kernel that does not end by itself.
 *
 * <p>Every method throws {@link GpuUnavailableException} if the driver returns an error.
 */
public interface CudaDriver extends AutoCloseable {

    String deviceName();

    int multiprocessors();

    /** Returns the shared memory in bytes that a thread block may have. */
    int blockSharedBytes();

    /**
     * Lets kernels of this device access the memory of another one.
     *
     * @param ordinal number of the other device, which is open
     * @return false if the hardware does not connect the devices
     */
    boolean openPeerAccess(int ordinal);

    /** Undoes {@link #openPeerAccess}, if it was done. No kernel of this device may run. */
    void closePeerAccess(int ordinal);

    /** Returns the free device memory in bytes; the allocations of all processes count. */
    long freeBytes();

    /** Allocates device memory with unspecified content, aligned to 256 bytes. */
    long allocateDevice(long lengthBytes);

    void freeDevice(long address);

    /** Allocates page-locked host memory with unspecified content, mapped for the device. */
    long allocatePinned(long lengthBytes);

    /**
     * Pins memory, and maps it for the device at the same address. If threads have touched its
     * pages before, that is faster than {@link #allocatePinned}, which provides 1.5 to 2.7 GB/s.
     *
     * @param region whole pages; {@link #freePinned} closes it, and the caller if this call fails
     */
    void pin(Region region);

    /** Frees memory of {@link #allocatePinned} or {@link #pin}. */
    void freePinned(long address);

    /**
     * Pins host memory that somebody else allocated, and maps it for the device.
     *
     * @return address of its first byte for kernels
     */
    long registerHost(long address, long lengthBytes);

    /** Undoes {@link #registerHost}. No kernel may use the memory. */
    void unregisterHost(long address);

    /** Copies host memory to the device after all launched kernels, and waits for the copy. */
    void copyToDevice(long deviceAddress, long hostAddress, long lengthBytes);

    /** Copies device memory to the host after all launched kernels, and waits for the copy. */
    void copyToHost(long hostAddress, long deviceAddress, long lengthBytes);

    /**
     * Queues a copy from pinned memory. It runs concurrently with kernels, and after the copies
     * queued before it.
     *
     * @return number of the copy, for {@link #hasCopied}
     */
    long startCopyToDevice(long deviceAddress, long pinnedAddress, long lengthBytes);

    /**
     * Returns whether a queued copy and all copies before it have completed. Does not wait. A
     * kernel that learns of the completion from the calling thread sees the copied bytes, even if
     * it is already running.
     */
    boolean hasCopied(long copy);

    /**
     * Queues a copy of device memory to pinned memory. It runs concurrently with kernels and with
     * copies to the device, and after the copies to the host queued before it. Kernels that wrote
     * the memory have ended.
     *
     * @return number of the copy, for {@link #hasCopiedToHost}
     */
    long startCopyToHost(long pinnedAddress, long deviceAddress, long lengthBytes);

    /**
     * Returns whether a queued copy to the host and all such copies before it have completed. Does
     * not wait.
     */
    boolean hasCopiedToHost(long copy);

    /**
     * Waits for all queued copies, including those of other threads. Kernels launched afterwards
     * see the copied bytes.
     */
    void awaitCopies();

    /**
     * Copies device memory to pinned memory concurrently with kernels, and waits for this copy
     * alone. Works while a kernel runs that does not end by itself.
     */
    void copyToHostBeside(long pinnedAddress, long deviceAddress, long lengthBytes);

    /** Returns what the driver reports about access of network cards to this device's memory. */
    GpuDirectSupport gpuDirect();

    /**
     * Fills device memory after all launched kernels. Kernels launched afterwards see the values.
     */
    void fillDevice(long deviceAddress, byte value, long lengthBytes);

    /**
     * Queues a kernel.
     *
     * @param kernel name in the image
     * @param arguments in the order of the kernel's parameters; every parameter has 8 bytes
     */
    void launch(String kernel, int blocks, int threads, long... arguments);

    /**
     * Queues a kernel whose blocks have memory of their own on the multiprocessor, in addition to
     * what the kernel declares.
     *
     * @param sharedBytes of each block
     * @param arguments in the order of the kernel's parameters; each has the 8-byte words of a
     *     number or of a struct
     */
    void launchWithSharedMemory(
            String kernel, int blocks, int threads, int sharedBytes, long[]... arguments);

    /**
     * Opens another queue of kernels, concurrent with those that this driver launches.
     *
     * @param isUrgent whether waiting blocks of the queue precede those of other queues
     */
    KernelQueue openQueue(boolean isUrgent);

    /**
     * Loads the kernels of an image, unless they are loaded. No kernel may run: the driver would
     * wait for it.
     *
     * @throws GpuUnavailableException if the class path does not contain the image, or it has no
     *     code for the device
     */
    void load(KernelImage image);

    /** Returns whether all launched kernels have ended. */
    boolean isIdle();

    /** Releases the device. The caller must have freed all allocations. */
    @Override
    void close();
}
