// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.testing;

import io.github.gpujoin.rdma.transport.OneSidedConformance;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.Transport;

class SimulatedTransportTest extends OneSidedConformance {

    @Override
    protected OneSidedTransport open() {
        return new SimulatedTransport(SimulatedFaults.NONE, 1, System::nanoTime);
    }

    /** Both ends use one instance. */
    @Override
    protected Transport openPeer(Transport first) {
        return first;
    }
}
