package io.github.gpujoin.rdma.transport.ucx;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.rdma.transport.OneSidedConformance;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

@EnabledIfUcx
class UcxTcpConformanceTest extends OneSidedConformance {

    @Override
    protected OneSidedTransport open() throws Exception {
        return new UcxTransport(new UcxOptions(InetAddress.getLoopbackAddress(), UcxOptions.TCP));
    }

    @Test
    void shouldAcceptATargetsTokenOnce() throws Exception {
        byte[] descriptor = receiver.registerTarget(TARGET_BYTES).descriptor();
        reach(descriptor);
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> reach(descriptor))
                .withMessageStartingWith("the peer must listen, and accepts a target's token once");
    }

    @Test
    void shouldAcceptNoOtherToken() throws Exception {
        byte[] descriptor = receiver.registerTarget(TARGET_BYTES).descriptor();
        descriptor[24] ^= 1;
        assertThatExceptionOfType(TransportException.class).isThrownBy(() -> reach(descriptor));
    }
}
