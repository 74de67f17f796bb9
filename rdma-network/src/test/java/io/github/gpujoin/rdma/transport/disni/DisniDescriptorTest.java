// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DisniDescriptorTest {

    private static final DisniDescriptor TARGET =
            new DisniDescriptor(
                    new InetSocketAddress("10.0.9.1", 40_000), 0xCAFE_F00D, 0x7F00_1000L, 4096);

    @Test
    void shouldDecodeItsEncoding() throws TransportException {
        assertThat(TARGET.encode()).hasSizeLessThanOrEqualTo(Transport.MAX_DESCRIPTOR_BYTES);
        assertThat(DisniDescriptor.decode(TARGET.encode())).isEqualTo(TARGET);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 31, 33, 256})
    void shouldRejectAnotherLength(int lengthBytes) {
        byte[] bytes = Arrays.copyOf(TARGET.encode(), lengthBytes);
        assertThatThrownBy(() -> DisniDescriptor.decode(bytes))
                .isInstanceOf(TransportException.class)
                .hasMessageEndingWith("lengthBytes=" + lengthBytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 2", "8, 0", "8, 65536", "8, -1"})
    void shouldRejectAForeignVersionOrPort(int offset, int value) {
        byte[] bytes = TARGET.encode();
        little(bytes).putInt(offset, value);
        assertThatThrownBy(() -> DisniDescriptor.decode(bytes))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("Expected version 1 and 1 byte to 1 GiB");
    }

    @ParameterizedTest
    @CsvSource({
        "16, 0",
        "16, -4096",
        "16, 9223372036854775807",
        "24, 0",
        "24, -1",
        "24, 1073741825"
    })
    void shouldRejectAnInvalidTarget(int offset, long value) {
        byte[] bytes = TARGET.encode();
        little(bytes).putLong(offset, value);
        assertThatThrownBy(() -> DisniDescriptor.decode(bytes))
                .isInstanceOf(TransportException.class);
    }

    static Stream<byte[]> descriptors() {
        return Stream.of(TARGET.encode(), new byte[DisniDescriptor.LENGTH_BYTES]);
    }

    @MethodSource("descriptors")
    @FuzzTest(maxDuration = "5m")
    void shouldDecodeOnlyItsOwnEncoding(byte[] bytes) {
        if (bytes == null) {
            return;
        }
        try {
            assertThat(DisniDescriptor.decode(bytes).encode()).isEqualTo(bytes);
        } catch (TransportException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
