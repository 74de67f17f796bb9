package io.github.gpujoin.rdma.transport.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpMemory;

@EnabledIfUcx
class UcxAcceptorTest {

    private static final int TARGET_BYTES = 4096;

    private final UcxOptions options =
            new UcxOptions(InetAddress.getLoopbackAddress(), UcxOptions.TCP);

    /** UCX would end this process, were memory left when the context is closed. */
    @Test
    void shouldGiveMemoryBackThatCannotBeDescribed() throws Exception {
        List<UcpMemory> refused = new ArrayList<>();
        try (UcpContext context = UcxLibrary.open(options);
                UcxAcceptor acceptor =
                        new UcxAcceptor(context, new UcxEndpoints(options), options.address()) {
                            @Override
                            byte[] describe(UcpMemory memory, long token, long lengthBytes)
                                    throws TransportException {
                                refused.add(memory);
                                throw new TransportException("told to refuse");
                            }
                        }) {
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(() -> acceptor.register(TARGET_BYTES))
                    .withMessage("told to refuse");
            assertThat(refused).hasSize(1);
            assertThat(refused.get(0).getNativeId()).as("what UCX knows it by").isNull();
        }
    }
}
