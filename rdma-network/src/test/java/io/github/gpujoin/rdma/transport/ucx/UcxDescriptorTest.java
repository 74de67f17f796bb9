package io.github.gpujoin.rdma.transport.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UcxDescriptorTest {

    private static final byte[] KEY = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};

    private static UcxDescriptor target(String host) {
        return new UcxDescriptor(
                new InetSocketAddress(host, 40_000), 0xCAFE_F00DL << 32, 0x7F00_1000L, 4096, KEY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.9.1", "fd00::9:1"})
    void shouldComeBackFromItsBytes(String host) throws TransportException {
        byte[] bytes = target(host).encode();
        assertThat(bytes).hasSizeLessThanOrEqualTo(Transport.MAX_DESCRIPTOR_BYTES);
        UcxDescriptor back = UcxDescriptor.decode(bytes);
        assertThat(back)
                .usingRecursiveComparison()
                .ignoringFields("listener")
                .isEqualTo(target(host));
        assertThat(back.listener()).isEqualTo(target(host).listener());
    }

    @ParameterizedTest
    @CsvSource({"0, 2", "4, 0", "4, 65536", "4, -1", "48, 9", "48, 11", "48, -1"})
    void shouldRejectAForeignVersionPortOrKeyLength(int offset, int value)
            throws TransportException {
        byte[] bytes = target("10.0.9.1").encode();
        little(bytes).putInt(offset, value);
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> UcxDescriptor.decode(bytes))
                .withMessageContaining("a target of 1 byte to 1 GiB, and a key to its end");
    }

    @ParameterizedTest
    @CsvSource({
        "32, 0",
        "32, -4096",
        "32, 9223372036854775807",
        "40, 0",
        "40, -1",
        "40, 1073741825"
    })
    void shouldRejectATargetThatCannotBe(int offset, long value) throws TransportException {
        byte[] bytes = target("10.0.9.1").encode();
        little(bytes).putLong(offset, value);
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(() -> UcxDescriptor.decode(bytes));
    }

    @Test
    void shouldSayThatAKeyDoesNotFit() {
        UcxDescriptor target =
                new UcxDescriptor(
                        new InetSocketAddress("10.0.9.1", 1), 1, 4096, 4096, new byte[205]);
        assertThatExceptionOfType(TransportException.class)
                .isThrownBy(target::encode)
                .withMessageStartingWith(
                        "a descriptor holds a key of 1 to 204 bytes: keyBytes=205");
    }

    @FuzzTest
    void shouldDecodeWhatItWouldEncodeOrRefuse(byte[] bytes) {
        UcxDescriptor decoded;
        try {
            decoded = UcxDescriptor.decode(bytes);
        } catch (TransportException e) {
            return;
        }
        assertThat(decoded.key())
                .isEqualTo(Arrays.copyOfRange(bytes, UcxDescriptor.KEY_OFFSET, bytes.length));
        assertThat(decoded.lengthBytes()).isBetween(1L, Transport.MAX_REGISTERED_BYTES);
        assertThat(decoded.address()).isPositive();
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
