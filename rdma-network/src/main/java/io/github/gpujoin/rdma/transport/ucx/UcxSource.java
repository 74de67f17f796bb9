package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.RegisteredMemory;

/**
 * Memory that connections write from. Once it is closed it is given back as soon as none of them
 * reads it any more. Thread-safe.
 */
final class UcxSource implements RegisteredMemory, GivenOut.Item {

    private final Region region;
    private int readers;
    private boolean closed;

    /**
     * @param region closed with this
     */
    UcxSource(Region region) {
        this.region = region;
    }

    /** A connection reads it from now on. */
    synchronized void enter() {
        readers++;
    }

    /** A connection reads it no more. */
    synchronized void leave() {
        readers--;
        giveBack();
    }

    private void giveBack() {
        if (isClosed()) {
            region.close();
        }
    }

    @Override
    public long address() {
        return region.address();
    }

    @Override
    public long lengthBytes() {
        return region.lengthBytes();
    }

    @Override
    public synchronized boolean isClosed() {
        return closed && readers == 0;
    }

    @Override
    public synchronized void close() {
        closed = true;
        giveBack();
    }
}
