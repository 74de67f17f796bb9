// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;

/**
 * Memory that an RDMA device may access, host or GPU memory (a verbs memory region).
 *
 * <p>Closing it revokes its keys at once: later writes of peers fail. The memory itself belongs to
 * the caller.
 */
public interface Registration extends AutoCloseable {

    /** Address of the first byte, in this process. */
    long address();

    long lengthBytes();

    /** Key with which this host's queue pairs read the memory. */
    int localKey();

    /** Key with which peers write the memory; usable with {@link RemoteAccess#WRITE} only. */
    int remoteKey();

    @Override
    void close() throws IOException;
}
