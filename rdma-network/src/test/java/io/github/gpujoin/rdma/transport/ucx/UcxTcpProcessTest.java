package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.TransportProcessTest;

@EnabledIfUcx
class UcxTcpProcessTest extends TransportProcessTest {

    @Override
    protected String transport() {
        return "ucx:" + UcxOptions.TCP;
    }
}
