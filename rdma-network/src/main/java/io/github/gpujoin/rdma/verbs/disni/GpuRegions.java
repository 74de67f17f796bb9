// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteAccess;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;

/** Registers GPU memory through this project's native library, since DiSNI cannot. */
final class GpuRegions {

    private GpuRegions() {}

    static Registration register(long protectionDomain, GpuMemory memory, RemoteAccess access)
            throws IOException {
        boolean isDmaBuf = memory.method() == GpuMemory.RegistrationMethod.DMA_BUF;
        boolean isWritten = access == RemoteAccess.WRITE;
        try {
            long region =
                    isDmaBuf
                            ? registerDmaBuf(
                                    protectionDomain,
                                    memory.address(),
                                    memory.lengthBytes(),
                                    isWritten)
                            : registerPeerMem(
                                    protectionDomain,
                                    memory.address(),
                                    memory.lengthBytes(),
                                    isWritten);
            return new GpuRegion(region, memory);
        } catch (UnsatisfiedLinkError e) {
            throw notInstalled(e);
        } catch (IOException e) {
            throw new VerbsException(
                    VerbsFailure.FAILED_CALL,
                    "Network adapter cannot use GPU memory: "
                            + memory
                            + ", cause="
                            + e.getMessage()
                            + (isDmaBuf
                                    ? ". Use an adapter driver with dma-buf and the open GPU"
                                            + " kernel modules."
                                    : ". Load the kernel module: modprobe nvidia-peermem"),
                    e);
        }
    }

    /**
     * Flushes writes of network adapters to a GPU.
     *
     * @param address device pointer
     */
    static void flush(long address) throws IOException {
        try {
            flushWrites(address);
        } catch (UnsatisfiedLinkError e) {
            throw notInstalled(e);
        } catch (IOException e) {
            throw new VerbsException(
                    VerbsFailure.FAILED_CALL,
                    "GPU did not flush writes of a network adapter: cause=" + e.getMessage(),
                    e);
        }
    }

    private static VerbsException notInstalled(UnsatisfiedLinkError e) {
        return new VerbsException(
                VerbsFailure.NO_LIBRARY,
                "Installed native library cannot register GPU memory:"
                        + " missing="
                        + e.getMessage()
                        + ". Use the library in the jar.",
                e);
    }

    /**
     * Exports the memory as a dma-buf and registers it.
     *
     * @return address of the region
     * @throws IOException with the CUDA driver's result or the errno
     */
    private static native long registerDmaBuf(
            long protectionDomain, long address, long lengthBytes, boolean isWritten)
            throws IOException;

    private static native long registerPeerMem(
            long protectionDomain, long address, long lengthBytes, boolean isWritten)
            throws IOException;

    private static native void flushWrites(long address) throws IOException;

    private static native int localKey(long region);

    private static native int remoteKey(long region);

    private static native void deregister(long region) throws IOException;

    /** A region that this class registered, unknown to DiSNI. */
    private static final class GpuRegion implements Registration {

        private final GpuMemory memory;
        private final int localKey;
        private final int remoteKey;
        private long region;

        GpuRegion(long region, GpuMemory memory) {
            this.region = region;
            this.memory = memory;
            this.localKey = GpuRegions.localKey(region);
            this.remoteKey = GpuRegions.remoteKey(region);
        }

        @Override
        public long address() {
            return memory.address();
        }

        @Override
        public long lengthBytes() {
            return memory.lengthBytes();
        }

        @Override
        public int localKey() {
            return localKey;
        }

        @Override
        public int remoteKey() {
            return remoteKey;
        }

        @Override
        public synchronized void close() throws IOException {
            if (region != 0) {
                deregister(region);
                region = 0;
            }
        }
    }
}
