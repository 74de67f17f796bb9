// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.session.ControlMessage.Bye;
import io.github.gpujoin.rdma.session.ControlMessage.Challenge;
import io.github.gpujoin.rdma.session.ControlMessage.Descriptor;
import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Mac;
import io.github.gpujoin.rdma.session.ControlMessage.Progress;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import io.github.gpujoin.rdma.session.ControlMessage.Refuse;
import java.util.Arrays;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Decoding any bytes yields a message that encodes to them, or a {@link ProtocolException}. */
class ControlCodecFuzzTest {

    private static final Mac MAC = new Mac(new byte[Mac.BYTES]);

    static Stream<ControlMessage> messages() {
        Nonce nonce = new Nonce(1, -2);
        return Stream.of(
                new Hello(new UUID(7, 8), 3, 4, nonce),
                new Challenge(nonce, MAC),
                new Proof(MAC),
                new Accept(
                        9, 10, new RingGeometry(16, 128), new Descriptor(new byte[] {1, 2}), MAC),
                new Accept(9, 0, new RingGeometry(1, 128), new Descriptor(new byte[256]), MAC),
                new Refuse(Refusal.STALE_ATTEMPT),
                new Progress(1, 2, Long.MAX_VALUE),
                new Bye());
    }

    static Stream<byte[]> bodies() {
        return messages().map(ControlCodecFuzzTest::body);
    }

    private static byte[] body(ControlMessage message) {
        byte[] frame = ControlCodec.encode(message);
        return Arrays.copyOfRange(frame, ControlCodec.LENGTH_BYTES, frame.length);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("messages")
    void shouldDecodeAnEncodedMessage(ControlMessage message) throws Exception {
        assertThat(ControlCodec.decode(body(message))).isEqualTo(message);
    }

    @MethodSource("bodies")
    @FuzzTest(maxDuration = "5m")
    void shouldDecodeAnyBytesOrReject(byte[] body) {
        if (body == null) {
            return;
        }
        try {
            assertThat(body(ControlCodec.decode(body))).isEqualTo(body);
        } catch (ProtocolException e) {
            assertThat(e.getMessage()).isNotBlank();
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldDecodeDamagedMessagesOrReject(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 500; i++) {
            for (byte[] body : bodies().toList()) {
                byte[] damaged = Arrays.copyOf(body, random.nextInt(body.length + 10));
                for (int at = 1; at < damaged.length; at += 1 + random.nextInt(8)) {
                    damaged[at] ^= (byte) (1 << random.nextInt(8));
                }
                shouldDecodeAnyBytesOrReject(damaged);
            }
        }
    }
}
