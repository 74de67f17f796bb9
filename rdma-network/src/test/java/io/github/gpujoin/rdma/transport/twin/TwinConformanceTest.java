package io.github.gpujoin.rdma.transport.twin;

import io.github.gpujoin.rdma.transport.OneSidedConformance;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.Transport;

class TwinConformanceTest extends OneSidedConformance {

    @Override
    protected OneSidedTransport open() {
        return new TwinTransport(TwinFaults.NONE, 1, System::nanoTime);
    }

    /** Both ends use one instance. */
    @Override
    protected Transport openPeer(Transport first) {
        return first;
    }
}
