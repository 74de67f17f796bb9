// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;

/** Memory that a device may use. Closing it revokes its keys at once: later writes fail. */
public interface Registration extends AutoCloseable {

    long address();

    long lengthBytes();

    /** Key with which this host's queue pairs read the memory. */
    int localKey();

    /** Key with which peers write the memory; usable with {@link RemoteAccess#WRITE} only. */
    int remoteKey();

    @Override
    void close() throws IOException;
}
