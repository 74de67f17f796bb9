package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.TransportProcessTest;

@EnabledIfUcx
class UcxSharedMemoryProcessTest extends TransportProcessTest {

    @Override
    protected String transport() {
        return "ucx:" + UcxOptions.SHARED_MEMORY;
    }
}
