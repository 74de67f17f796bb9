// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.disni.DisniTransport;
import java.net.InetAddress;

/**
 * Transport through RDMA verbs (DiSNI), between hosts with RDMA devices. Its name is {@code disni}.
 * Rings of readers may lie in GPU memory ({@link RingOptions#gpuDirect()}).
 */
public final class DisniProvider implements TransportProvider {

    @Override
    public String name() {
        return "disni";
    }

    @Override
    public Transport open(RingOptions options, InetAddress localAddress) throws TransportException {
        return new DisniTransport(localAddress);
    }

    @Override
    public boolean hasSenderBuffers() {
        return true;
    }

    @Override
    public Transport openReader(RingOptions options, InetAddress localAddress)
            throws TransportException {
        return options.gpuDirect() == null
                ? open(options, localAddress)
                : new DisniTransport(
                        localAddress, options.gpuDirect().open(options.geometry().slotBytes()));
    }
}
