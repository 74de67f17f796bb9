// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.systemtests.chaos.ConnectionProxy.Mode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ConnectionProxyTest {

    private static final int STALLED_MS = 100;

    private ServerSocket server;
    private ConnectionProxy proxy;
    private Socket client;
    private Socket served;

    @BeforeEach
    void connect() throws IOException {
        server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        proxy = ConnectionProxy.to(server.getLocalPort());
        client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        served = server.accept();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        served.close();
        proxy.close();
        server.close();
    }

    @Test
    void shouldPassBytesBothWaysAndSoTheEnd() throws IOException {
        client.getOutputStream().write(7);
        assertThat(served.getInputStream().read()).isEqualTo(7);
        served.getOutputStream().write(8);
        assertThat(client.getInputStream().read()).isEqualTo(8);
        served.close();
        assertThat(client.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void shouldHoldBytesBackWhileItStallsAndLoseNone() throws IOException {
        proxy.set(Mode.STALL);
        client.getOutputStream().write(new byte[] {1, 2, 3});
        served.setSoTimeout(STALLED_MS);
        assertThatThrownBy(() -> served.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class);
        served.setSoTimeout(0);
        proxy.set(Mode.DELAY);
        assertThat(served.getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
    }

    @Test
    void shouldCutWhatIsOpenAndWhatComesUntilItForwardsAgain() throws IOException {
        proxy.set(Mode.CUT);
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        assertThat(proxy.openConnections()).isZero();
        try (Socket refused = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            assertThat(refused.getInputStream().read()).isEqualTo(-1);
        }
        server.accept().close();

        proxy.set(Mode.FORWARD);
        try (Socket again = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
                Socket servedAgain = server.accept()) {
            again.getOutputStream().write(9);
            assertThat(servedAgain.getInputStream().read()).isEqualTo(9);
        }
    }
}
