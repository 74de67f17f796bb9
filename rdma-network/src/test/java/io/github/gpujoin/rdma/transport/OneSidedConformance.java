// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.region.Memory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Additional guarantees of every one-sided transport. */
public abstract class OneSidedConformance extends TransportConformance {

    private static final int ROUNDS = 2000;

    @Override
    protected abstract OneSidedTransport open() throws Exception;

    private OneSidedTransport oneSided() {
        return (OneSidedTransport) sender;
    }

    @Override
    protected void write(byte[] descriptor, int offsetBytes, long... words) throws Exception {
        int lengthBytes = words.length * Long.BYTES;
        try (RegisteredMemory source = oneSided().registerSource(lengthBytes + 8)) {
            for (int i = 0; i < words.length; i++) {
                Memory.putLong(source.address() + 8 + i * 8L, words[i]);
            }
            try (Connection connection = oneSided().connect(descriptor, source)) {
                put(connection, 8, offsetBytes, lengthBytes);
                connection.flush();
                // after a flush a write may start only when all earlier ones have arrived
                put(connection, 8, offsetBytes, 8);
            }
        }
    }

    @Override
    protected void reach(byte[] descriptor) throws Exception {
        try (RegisteredMemory source = oneSided().registerSource(64);
                Connection connection = oneSided().connect(descriptor, source)) {
            put(connection, 0, 0, 8);
        }
    }

    private static void put(Connection connection, long from, long to, int lengthBytes)
            throws TransportException {
        while (!connection.write(from, to, lengthBytes)) {
            connection.poll();
        }
    }

    /**
     * The flag is a counter: a reader that sees it sees the same number in each word of the body.
     */
    @Test
    void shouldMakeWritesBeforeAFlushVisibleBeforeLaterOnes() throws Exception {
        int bodyBytes = TARGET_BYTES - 8;
        try (Target target = receiver.registerTarget(TARGET_BYTES);
                RegisteredMemory source = oneSided().registerSource(TARGET_BYTES);
                Connection connection = oneSided().connect(target.descriptor(), source)) {
            for (long round = 1; round <= ROUNDS; round++) {
                for (int at = 0; at < TARGET_BYTES; at += 8) {
                    Memory.putLong(source.address() + at, round);
                }
                put(connection, 8, 8, bodyBytes);
                connection.flush();
                put(connection, 0, 0, 8);
                while (Memory.getLongAcquire(null, target.address()) != round) {
                    connection.poll();
                }
                assertThat(words(target, 8, bodyBytes / 8)).containsOnly(round);
            }
        }
    }

    @Test
    void shouldBeIdleOnceFlushedWritesHaveArrived() throws Exception {
        try (Target target = receiver.registerTarget(TARGET_BYTES);
                RegisteredMemory source = oneSided().registerSource(TARGET_BYTES);
                Connection connection = oneSided().connect(target.descriptor(), source)) {
            for (long round = 1; round <= 100; round++) {
                Memory.putLong(source.address() + TARGET_BYTES - 8, round);
                put(connection, 0, 0, TARGET_BYTES);
                connection.flush();
                do {
                    connection.poll();
                } while (!connection.isIdle());
                assertThat(words(target, TARGET_BYTES - 8, 1)).containsExactly(round);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-8, 0, 8",
        "4089, 0, 8",
        "0, -8, 8",
        "0, 65529, 8",
        "0, 9223372036854775807, 8",
        "0, 0, 0",
        "0, 0, -8",
        "0, 0, 4097"
    })
    void shouldRefuseAWriteOutsideOfSourceOrTarget(long from, long to, int lengthBytes)
            throws Exception {
        try (Target target = receiver.registerTarget(TARGET_BYTES);
                RegisteredMemory source = oneSided().registerSource(4096);
                Connection connection = oneSided().connect(target.descriptor(), source)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> connection.write(from, to, lengthBytes))
                    .withMessageStartingWith("Write outside of the registered memory")
                    .withMessageEndingWith("lengthBytes=" + lengthBytes);
            assertThat(words(target, 0, TARGET_BYTES / 8)).containsOnly(0);
        }
    }

    @Test
    void shouldThrowInEveryCallAfterClose() throws Exception {
        try (Target target = receiver.registerTarget(TARGET_BYTES);
                RegisteredMemory source = oneSided().registerSource(4096)) {
            Connection connection = oneSided().connect(target.descriptor(), source);
            connection.close();
            connection.close();
            assertThatExceptionOfType(TransportException.class)
                    .isThrownBy(() -> connection.write(0, 0, 8));
            assertThatExceptionOfType(TransportException.class).isThrownBy(connection::flush);
            assertThatExceptionOfType(TransportException.class).isThrownBy(connection::poll);
        }
    }

    @Test
    void shouldCloseWithConnectionsOpen() throws Exception {
        Target target = receiver.registerTarget(TARGET_BYTES);
        RegisteredMemory source = oneSided().registerSource(4096);
        Connection connection = oneSided().connect(target.descriptor(), source);
        put(connection, 0, 0, 4096);
        receiver.close();
        sender.close();
        assertThatExceptionOfType(TransportException.class).isThrownBy(connection::poll);
    }
}
