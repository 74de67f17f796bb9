package io.github.gpujoin.rdma.verbs;

import java.io.IOException;

/** Memory that a device may use. Closing it revokes its keys at once: later writes are refused. */
public interface Registration extends AutoCloseable {

    long address();

    long lengthBytes();

    /** The key by which this host's queue pairs read the memory. */
    int localKey();

    /** The key by which peers write the memory, if {@link RemoteRights#WRITE} was given. */
    int remoteKey();

    @Override
    void close() throws IOException;
}
