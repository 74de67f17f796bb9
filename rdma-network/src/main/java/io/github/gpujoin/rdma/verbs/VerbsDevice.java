// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * An RDMA device with a protection domain: only queue pairs of this object can use memory that is
 * registered here.
 *
 * <p>Thread-safe. Close it after everything that it created.
 */
public interface VerbsDevice extends AutoCloseable {

    /**
     * Pins memory and registers it with the device. Expensive: register once, not for each write.
     *
     * @param address first byte; the memory must outlive the registration
     * @param lengthBytes 1 byte to 2 GiB - 1
     * @throws VerbsException {@link VerbsFailure#LOCKED_MEMORY} if the process may not lock so much
     */
    Registration register(long address, long lengthBytes, RemoteAccess access) throws IOException;

    /**
     * Registers GPU memory with the device. Untested on hardware.
     *
     * @param memory allocated by the CUDA driver; must outlive the registration
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL} if the kernel does not support the
     *     method of {@link GpuMemory}
     */
    Registration register(GpuMemory memory, RemoteAccess access) throws IOException;

    /**
     * Makes earlier writes of network adapters to a GPU's memory visible to later reads of the GPU
     * (cuFlushGPUDirectRDMAWrites). Untested on hardware.
     *
     * @param address device pointer into that memory
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL} if the CUDA driver refuses
     */
    void flushGpuWrites(long address) throws IOException;

    /**
     * Listens on this device's address only.
     *
     * @param port 0 to let the kernel choose
     * @param queueDepth maximum of in-flight writes of a connection
     * @throws VerbsException {@link VerbsFailure#FAILED_CALL}, for example if the port is in use
     */
    VerbsListener listen(int port, int queueDepth) throws IOException;

    /**
     * Connects to a listener. Blocks until it accepts or the timeout ends.
     *
     * @param queueDepth maximum of in-flight writes of the connection
     * @throws VerbsException {@link VerbsFailure#NO_ROUTE} or {@link VerbsFailure#NO_CONNECTION}
     */
    QueuePair connect(InetSocketAddress peer, int queueDepth, Duration timeout) throws IOException;

    @Override
    void close() throws IOException;
}
