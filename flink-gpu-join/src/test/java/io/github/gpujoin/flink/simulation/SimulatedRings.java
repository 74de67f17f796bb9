// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.exchange.ring.InProcessProvider;
import io.github.gpujoin.flink.exchange.ring.RingHost;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.exchange.ring.TransportProvider;
import io.github.gpujoin.rdma.transport.Transport;
import java.net.InetAddress;
import org.apache.flink.configuration.Configuration;

/** Rings over the network of the current life. */
public final class SimulatedRings implements TransportProvider {

    static final String NAME = "simulated";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Transport open(RingOptions options, InetAddress localAddress) {
        return InProcessProvider.shared(SimulatedNetwork.current().transport());
    }

    @Override
    public RingHost host(Configuration taskManager) {
        return SimulatedNetwork.current();
    }
}
