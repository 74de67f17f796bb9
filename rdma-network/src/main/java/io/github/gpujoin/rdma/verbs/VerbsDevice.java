package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * An RDMA device with a protection domain: what is registered here can be used by the queue pairs
 * made here, and by no others.
 *
 * <p>Thread-safe. Close it after all that was made from it.
 */
public interface VerbsDevice extends AutoCloseable {

    /**
     * Pins memory and lets the device read it. Costly: register once, never for each write.
     *
     * @param address first byte; the memory outlives the registration
     * @param lengthBytes 1 byte to 2 GiB - 1
     * @throws VerbsException {@link VerbsFailure#LOCKED_MEMORY}
     */
    Registration register(long address, long lengthBytes, RemoteRights rights) throws IOException;

    /**
     * Lets the device use GPU memory. Untested on hardware.
     *
     * @param memory allocated by the CUDA driver; outlives the registration
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL} where the kernel cannot do that,
     *     which {@link GpuMemory} says how to change
     */
    Registration register(GpuMemory memory, RemoteRights rights) throws IOException;

    /**
     * Makes what network cards wrote to a GPU's memory visible to what the GPU does from now on
     * (cuFlushGPUDirectRDMAWrites). Untested on hardware.
     *
     * @param address device pointer into that memory
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL} where the CUDA driver refuses
     */
    void flushGpuWrites(long address) throws IOException;

    /**
     * Listens on this device's address alone.
     *
     * @param port 0 to let the kernel choose
     * @param writesPosted writes that a connection may have under way
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL}, for example where the port is taken
     */
    VerbsListener listen(int port, int writesPosted) throws IOException;

    /**
     * Connects to a listener.
     *
     * @param writesPosted writes that the connection may have under way
     * @throws VerbsException {@link VerbsFailure#NO_ROUTE} or {@link VerbsFailure#NO_CONNECTION}
     */
    QueuePair connect(InetSocketAddress peer, int writesPosted, Duration timeout)
            throws IOException;

    @Override
    void close() throws IOException;
}
