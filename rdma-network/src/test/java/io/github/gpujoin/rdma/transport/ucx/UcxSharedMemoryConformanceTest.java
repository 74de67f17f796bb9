package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.OneSidedConformance;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import java.net.InetAddress;

@EnabledIfUcx
class UcxSharedMemoryConformanceTest extends OneSidedConformance {

    @Override
    protected OneSidedTransport open() throws Exception {
        return new UcxTransport(
                new UcxOptions(InetAddress.getLoopbackAddress(), UcxOptions.SHARED_MEMORY));
    }
}
