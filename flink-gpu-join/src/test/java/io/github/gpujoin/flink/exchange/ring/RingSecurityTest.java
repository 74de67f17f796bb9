// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.session.TcpControlLink;
import io.github.gpujoin.rdma.session.TcpControlServer;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.session.WriterState;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.SecurityOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class RingSecurityTest {

    private static final UUID JOB = new UUID(1, 2);
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @TempDir private static Path directory;

    @Test
    void shouldUsePlainTcpOnTheLoopbackWithoutInternalSsl() {
        assertThat(RingSecurity.controlSockets(new Configuration(), LOOPBACK))
                .isSameAs(ControlSockets.PLAIN);
    }

    @Test
    void shouldAuthenticateBothEndsByFlinksInternalKeys() throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        assertThat(stateAfterFirstConnection(ssl, ssl)).isEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldConnectByTls13() throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        ssl.set(SecurityOptions.SSL_PROTOCOL, "TLSv1.3,TLSv1.2");
        ssl.set(
                SecurityOptions.SSL_ALGORITHMS,
                "TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
        assertThat(stateAfterFirstConnection(ssl, ssl)).isEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldRejectAWriterWithAnotherKey() throws Exception {
        Configuration cluster = InternalSsl.configuration(directory, "cluster");
        Configuration other = InternalSsl.configuration(directory, "other");
        assertThat(stateAfterFirstConnection(cluster, other)).isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldRejectAnUntrustedWriterThatTrustsTheReader() throws Exception {
        Configuration cluster = InternalSsl.configuration(directory, "cluster");
        Configuration other = InternalSsl.configuration(directory, "other");
        other.set(
                SecurityOptions.SSL_INTERNAL_TRUSTSTORE,
                cluster.get(SecurityOptions.SSL_INTERNAL_TRUSTSTORE));
        assertThat(stateAfterFirstConnection(cluster, other)).isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldRejectAWriterWithoutSsl() throws Exception {
        Configuration cluster = InternalSsl.configuration(directory, "cluster");
        assertThat(stateAfterFirstConnection(cluster, new Configuration()))
                .isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldRejectACertificateWithAnotherFingerprint() throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        ssl.set(SecurityOptions.SSL_INTERNAL_CERT_FINGERPRINT, "00".repeat(20));
        assertThat(stateAfterFirstConnection(ssl, ssl)).isNotEqualTo(WriterState.OPEN);
    }

    @Test
    void shouldRejectAddressesBeyondTheHostWithoutInternalSsl() {
        Configuration plain = new Configuration();
        plain.set(GpuJoinOptions.RING_ALLOW_UNENCRYPTED_PAYLOAD, true);
        assertRejected(plain, beyondHost())
                .withMessage(
                        "Flink's internal SSL is off, so rings cannot leave this host: address=10.0.9.1."
                                + " Set security.ssl.internal.enabled: true.");
    }

    @Test
    void shouldRejectUnencryptedRowsBeyondTheHostUnlessAllowed() throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        assertRejected(ssl, beyondHost())
                .withMessage(
                        "Rings would send unencrypted rows to other hosts: address=10.0.9.1.\n"
                                + "If your network is trusted, set"
                                + " gpu-join.ring.allow-unencrypted-payload: true in each"
                                + " TaskManager.");
        ssl.set(GpuJoinOptions.RING_ALLOW_UNENCRYPTED_PAYLOAD, true);
        assertThat(RingSecurity.controlSockets(ssl, beyondHost())).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::", "224.0.0.1"})
    void shouldRejectWildcardAndMulticastAddresses(String address) throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        ssl.set(GpuJoinOptions.RING_ALLOW_UNENCRYPTED_PAYLOAD, true);
        assertRejected(ssl, InetAddress.getByName(address))
                .withMessageStartingWith(
                        "Rings cannot use a wildcard or multicast address: address=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.1", "TLSv1.2,TLSv1", "SSLv3", ""})
    void shouldRejectOldTls(String protocols) throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        ssl.set(SecurityOptions.SSL_PROTOCOL, protocols);
        assertRejected(ssl, LOOPBACK)
                .withMessage(
                        "Unsupported TLS protocol for rings: security.ssl.protocol="
                                + protocols
                                + ". Set TLSv1.2 or TLSv1.3.");
    }

    @Test
    void shouldRejectIncompleteSslOptions() throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        ssl.removeConfig(SecurityOptions.SSL_INTERNAL_KEYSTORE);
        assertRejected(ssl, LOOPBACK)
                .withMessageStartingWith("Flink's internal SSL is not usable: ")
                .withMessageContaining("security.ssl.internal.keystore");
    }

    @Test
    void shouldNotReportAWrongPassword() throws Exception {
        Configuration ssl = InternalSsl.configuration(directory, "cluster");
        ssl.set(SecurityOptions.SSL_INTERNAL_KEYSTORE_PASSWORD, "not-this-one");
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> RingSecurity.controlSockets(ssl, LOOPBACK))
                .withMessageStartingWith("Flink's internal SSL is not usable: ")
                .withMessageNotContaining("not-this-one");
    }

    private static org.assertj.core.api.ThrowableAssertAlternative<IllegalConfigurationException>
            assertRejected(Configuration config, InetAddress address) {
        return assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> RingSecurity.controlSockets(config, address));
    }

    private static InetAddress beyondHost() {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 9, 1});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the state of a writer after its first connection opened or failed. */
    private static WriterState stateAfterFirstConnection(Configuration reads, Configuration writes)
            throws Exception {
        JobSecret secret = JobSecret.random();
        SessionOptions times = SessionOptions.DEFAULT;
        long nowNs = System.nanoTime();
        try (SimulatedTransport transport =
                        new SimulatedTransport(SimulatedFaults.NONE, 1, System::nanoTime);
                SessionListener listener =
                        new SessionListener(JOB, secret, times, SessionListener.Limits.DEFAULT);
                TcpControlServer server =
                        new TcpControlServer(
                                new InetSocketAddress(LOOPBACK, 0),
                                RingSecurity.controlSockets(reads, LOOPBACK));
                ReaderSession reader =
                        new ReaderSession(
                                0, RingGeometry.forPayload(2, 64), transport, times, nowNs);
                WriterSession writer =
                        new WriterSession(
                                JOB,
                                0,
                                0,
                                secret.token(JOB, 0),
                                TcpControlLink.dialer(
                                        server.address(),
                                        RingSecurity.controlSockets(writes, LOOPBACK)),
                                transport,
                                times,
                                nowNs)) {
            listener.add(reader);
            String noLoss = writer.lastLoss();
            while (writer.state() != WriterState.OPEN && writer.lastLoss().equals(noLoss)) {
                writer.step(System.nanoTime());
                server.step(listener, System.nanoTime());
                reader.step(System.nanoTime());
            }
            return writer.state();
        }
    }
}
