package io.github.gpujoin.flink.transport;

import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.ucx.UcxOptions;
import io.github.gpujoin.rdma.transport.ucx.UcxTransport;
import java.net.InetAddress;

/** Whatever UCX has: TCP, RDMA, or memory shared by processes of one host. */
public final class UcxProvider implements TransportProvider {

    @Override
    public String name() {
        return "ucx";
    }

    @Override
    public Transport open(RingOptions options, InetAddress localAddress) throws TransportException {
        return new UcxTransport(new UcxOptions(localAddress, options.ucxTransports()));
    }
}
