// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decisions of the connection. bin/verify-rdma checks that bytes arrive. */
class DisniConnectionTest {

    private static final int SOURCE_KEY = 11;
    private static final int TARGET_KEY = 22;

    private final RecordingPair pair = new RecordingPair();
    private final DisniConnection connection = connection(() -> pair);

    @BeforeEach
    void awaitConnected() {
        connection.awaitEnd();
        assertThat(connection.isConnected()).isTrue();
    }

    private static DisniConnection connection(DisniConnection.Connector connector) {
        return new DisniConnection(
                connector,
                new FixedRegistration(1000, 256),
                new DisniDescriptor(
                        new InetSocketAddress("10.0.9.1", 4000), TARGET_KEY, 5000, 128));
    }

    /** The thread that connects drives other sessions as well. */
    @Test
    @Timeout(30)
    void shouldNotBlockOnAPeerThatDoesNotAnswer() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        RecordingPair late = new RecordingPair();
        DisniConnection slow =
                connection(
                        () -> {
                            await(answered);
                            return late;
                        });
        assertThat(slow.isConnected()).isFalse();
        slow.poll();
        assertThat(slow.write(0, 0, 8)).isFalse();
        slow.flush();
        assertThat(late.posted).isEmpty();

        answered.countDown();
        slow.awaitEnd();
        assertThat(slow.isConnected()).isTrue();
        assertThat(slow.write(0, 0, 8)).isTrue();
        slow.close();
    }

    @Test
    @Timeout(30)
    void shouldCloseAQueuePairThatConnectsAfterClose() {
        CountDownLatch answered = new CountDownLatch(1);
        RecordingPair late = new RecordingPair();
        DisniConnection slow =
                connection(
                        () -> {
                            await(answered);
                            return late;
                        });
        slow.close();
        assertThat(slow.isClosed()).as("its thread still connects").isFalse();
        assertThatThrownBy(slow::poll).hasMessageContaining("state=CLOSED");

        answered.countDown();
        slow.awaitEnd();
        assertThat(late.state).isEqualTo(QueuePairState.CLOSED);
        assertThat(slow.isClosed()).isTrue();
        assertThat(slow.isConnected()).isFalse();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldReportWhyThePeerWasNotReached() {
        DisniConnection refused =
                connection(
                        () -> {
                            throw new IOException("injected failure");
                        });
        refused.awaitEnd();
        assertThat(refused.isConnected()).isFalse();
        for (int call = 0; call < 2; call++) {
            assertThatThrownBy(refused::poll)
                    .isInstanceOf(TransportException.class)
                    .hasMessage("Connection to 10.0.9.1:4000 is broken: injected failure");
        }
        refused.close();
        assertThat(refused.isClosed()).isTrue();
    }

    @Test
    void shouldWriteFromTheSourceToTheTargetWithTheirKeys() throws TransportException {
        assertThat(connection.write(200, 64, 8)).isTrue();
        assertThat(pair.posted).containsExactly(new Posted(1200, SOURCE_KEY, 5064, TARGET_KEY, 8));
    }

    @Test
    void shouldStartNothingWhileTheQueueIsFull() throws TransportException {
        for (int i = 0; i < RecordingPair.DEPTH; i++) {
            assertThat(connection.write(0, 0, 8)).isTrue();
        }
        assertThat(connection.write(0, 0, 8)).isFalse();

        pair.completed = 1;
        connection.poll();

        assertThat(connection.write(0, 0, 8)).isTrue();
        assertThat(pair.posted).hasSize(RecordingPair.DEPTH + 1);
    }

    @Test
    void shouldBeIdleOnceAllWritesHaveCompleted() throws TransportException {
        connection.poll();
        assertThat(connection.isIdle()).isTrue();
        connection.write(0, 0, 8);
        connection.write(0, 0, 8);
        assertThat(connection.isIdle()).isFalse();

        pair.completed = 1;
        connection.poll();
        assertThat(connection.isIdle()).isFalse();

        pair.completed = 2;
        connection.poll();
        assertThat(connection.isIdle()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 0, 8",
        "249, 0, 8",
        "0, -1, 8",
        "0, 121, 8",
        "0, 9223372036854775807, 8",
        "0, 0, 0",
        "0, 0, -8",
        "0, 0, 129"
    })
    void shouldRejectAWriteOutsideOfSourceOrTarget(long source, long target, int lengthBytes) {
        assertThatThrownBy(() -> connection.write(source, target, lengthBytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lengthBytes=" + lengthBytes);
        assertThat(pair.posted).isEmpty();
    }

    @Test
    void shouldThrowInEveryCallAfterTheFirstFailure() {
        pair.isBroken = true;
        assertThatThrownBy(connection::poll)
                .isInstanceOf(TransportException.class)
                .hasMessageContaining("10.0.9.1")
                .hasMessageContaining("refused by the test");
        assertThatThrownBy(() -> connection.write(0, 0, 8)).isInstanceOf(TransportException.class);
        assertThatThrownBy(connection::flush).isInstanceOf(TransportException.class);
        assertThatThrownBy(connection::poll).isInstanceOf(TransportException.class);
    }

    @Test
    void shouldCloseTwice() {
        connection.close();
        connection.close();
        assertThat(connection.isClosed()).isTrue();
        assertThatThrownBy(() -> connection.write(0, 0, 8)).isInstanceOf(TransportException.class);
    }

    private record Posted(long from, int localKey, long to, int remoteKey, int lengthBytes) {}

    private record FixedRegistration(long address, long lengthBytes) implements Registration {
        @Override
        public int localKey() {
            return SOURCE_KEY;
        }

        @Override
        public int remoteKey() {
            return 0;
        }

        @Override
        public void close() {}
    }

    /** Records posted writes; completes and fails as the test demands. */
    private static final class RecordingPair implements QueuePair {

        private static final int DEPTH = 3;

        private final List<Posted> posted = new ArrayList<>();
        private long completed;
        private long noticed;
        private boolean isBroken;
        private QueuePairState state = QueuePairState.CONNECTED;

        @Override
        public QueuePairState state() {
            return state;
        }

        @Override
        public int freeWriteCount() {
            return DEPTH - (int) (posted.size() - noticed);
        }

        @Override
        public long write(long from, int localKey, long to, int remoteKey, int lengthBytes) {
            posted.add(new Posted(from, localKey, to, remoteKey, lengthBytes));
            return posted.size();
        }

        @Override
        public long completedWriteCount() throws IOException {
            if (isBroken) {
                state = QueuePairState.FAILED;
                throw new VerbsException(VerbsFailure.REFUSED_ACCESS, "refused by the test");
            }
            noticed = completed;
            return noticed;
        }

        @Override
        public void checkPeer() {}

        @Override
        public void close() {
            state = QueuePairState.CLOSED;
        }
    }
}
