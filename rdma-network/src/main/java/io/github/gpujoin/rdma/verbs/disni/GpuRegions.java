package io.github.gpujoin.rdma.verbs.disni;

import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteRights;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;

/**
 * Registers GPU memory, which DiSNI itself cannot: by calls of our native library beside DiSNI's.
 */
final class GpuRegions {

    private GpuRegions() {}

    static Registration register(long protectionDomain, GpuMemory memory, RemoteRights rights)
            throws IOException {
        boolean isDmaBuf = memory.way() == GpuMemory.Way.DMA_BUF;
        boolean isWritten = rights == RemoteRights.WRITE;
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
                    "the network card must be able to use the GPU's memory: "
                            + memory
                            + ", cause="
                            + e.getMessage()
                            + (isDmaBuf
                                    ? " (dma-buf needs a card driver with it, and the open GPU"
                                            + " kernel modules)"
                                    : " (modprobe nvidia-peermem)"),
                    e);
        }
    }

    /**
     * @param address in memory of the GPU
     */
    static void flush(long address) throws IOException {
        try {
            flushWrites(address);
        } catch (UnsatisfiedLinkError e) {
            throw notInstalled(e);
        } catch (IOException e) {
            throw new VerbsException(
                    VerbsFailure.FAILED_CALL,
                    "a GPU shows what a network card wrote once it is flushed: cause="
                            + e.getMessage(),
                    e);
        }
    }

    private static VerbsException notInstalled(UnsatisfiedLinkError e) {
        return new VerbsException(
                VerbsFailure.NO_LIBRARY,
                "GPU memory is registered by the library in the jar, not by an installed one:"
                        + " missing="
                        + e.getMessage(),
                e);
    }

    /**
     * Exports the memory and registers the export.
     *
     * @return address of the region
     * @throws IOException with the CUDA driver's result, or the errno
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

    /** A region that DiSNI knows nothing of. */
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
