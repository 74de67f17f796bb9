// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.net.InetAddress;

/** Shared memory, between processes of one host. */
public final class ShmProvider implements TransportProvider {

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public Transport open(RingOptions options, InetAddress localAddress) throws TransportException {
        return new ShmTransport(ShmTransport.DEFAULT_DIRECTORY);
    }
}
