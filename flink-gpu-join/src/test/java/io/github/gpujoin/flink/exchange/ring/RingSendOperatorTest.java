// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.RingSharing;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.SessionException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
@ExtendWith(RegionLeakExtension.class)
class RingSendOperatorTest {

    /** Answer of the coordinator. */
    private final AtomicReference<List<Target>> targets = new AtomicReference<>(List.of());

    /** Creates the operator with this test's coordinator. */
    private static final class Factory extends AbstractStreamOperatorFactory<Chunk>
            implements OneInputStreamOperatorFactory<Chunk, Chunk> {

        private static final long serialVersionUID = 1L;

        private final RingOptions options;
        private final transient Coordinator coordinator;

        Factory(RingOptions options, Coordinator coordinator) {
            this.options = options;
            this.coordinator = coordinator;
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T extends StreamOperator<Chunk>> T createStreamOperator(
                StreamOperatorParameters<Chunk> parameters) {
            return (T) new RingSendOperator(parameters, options, JoinSide.PROBE, coordinator);
        }

        @Override
        @SuppressWarnings("rawtypes")
        public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
            return RingSendOperator.class;
        }
    }

    private OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(String transport)
            throws Exception {
        return harness(RingFixture.options(transport), targets::get);
    }

    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(
            RingOptions options, Supplier<List<Target>> targets) throws Exception {
        OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        new Factory(options, RingFixture.coordinator(targets)));
        harness.setup(
                ChunkTypeInfo.of(RingFixture.SCHEMA)
                        .createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    private static RingSendOperator operator(
            OneInputStreamOperatorTestHarness<Chunk, Chunk> harness) {
        return (RingSendOperator) harness.getOperator();
    }

    /** Opens a subtask of the join, and sets its address as the coordinator's answer. */
    private RingReceiver receiver(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness)
            throws Exception {
        return receiver(harness, RingFixture.options("shm"));
    }

    private RingReceiver receiver(
            OneInputStreamOperatorTestHarness<Chunk, Chunk> harness, RingOptions options)
            throws Exception {
        AtomicReference<ReaderAddress> announced = new AtomicReference<>();
        RingTask task = RingTask.of(harness.getEnvironment());
        RingReceiver receiver =
                RingReceiver.open(
                        options,
                        Map.of(JoinSide.PROBE, RingFixture.writers(1)),
                        task,
                        event -> announced.set((ReaderAddress) event),
                        RingFixture.UNLIMITED);
        targets.set(List.of(RingFixture.target(announced.get(), task.job(), task.attempt())));
        return receiver;
    }

    private static Chunk send(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness)
            throws Exception {
        harness.processElement(new StreamRecord<>(RingFixture.chunk(0, 1)));
        List<Chunk> sent = harness.extractOutputValues();
        return sent.get(sent.size() - 1);
    }

    /** Sends the first chunk, which waits for its ring. */
    private static Chunk firstTicket(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness)
            throws Exception {
        Chunk ticket = send(harness);
        assertThat(RingTicket.isTicket(ticket)).isTrue();
        return ticket;
    }

    @Test
    void shouldBlockTheFirstChunkUntilItsRingIsOpen() throws Exception {
        AtomicInteger requestCount = new AtomicInteger();
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                harness(
                        RingFixture.options("shm"),
                        () -> requestCount.incrementAndGet() < 4 ? List.of() : targets.get())) {
            harness.open();
            try (RingReceiver receiver = receiver(harness)) {
                assertThat(receive(receiver, firstTicket(harness))).isEqualTo(1);
                assertThat(requestCount).hasValueGreaterThanOrEqualTo(4);
                operator(harness).finish();
            }
        }
    }

    @Test
    void shouldSendInlineAfterTheOpenTimeout() throws Exception {
        RingOptions options = RingFixture.options("shm", Duration.ofMillis(1));
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness(options, List::of)) {
            harness.open();
            assertThat(RingTicket.isTicket(send(harness))).isFalse();
        }
    }

    /** Flink searches the causes for the exception that suppresses restarts. */
    @Test
    void shouldSuppressRestartsIfItsBuffersExceedTheTaskOffHeapMemory() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("in-process")) {
            harness.getEnvironment()
                    .getTaskManagerInfo()
                    .getConfiguration()
                    .set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, MemorySize.ZERO);
            targets.set(List.of(new Target(new Endpoint("127.0.0.1", 1, new byte[32]), null)));
            harness.open();
            assertThatThrownBy(() -> send(harness))
                    .hasStackTraceContaining("Registered buffers of a sender do not fit")
                    .satisfies(
                            failure ->
                                    assertThat(
                                                    ThrowableClassifier
                                                            .findThrowableOfThrowableType(
                                                                    failure,
                                                                    ThrowableType
                                                                            .NonRecoverableError))
                                            .isPresent());
        }
    }

    @Test
    void shouldStopWaitingForItsRingsWhenTheTaskIsCancelled() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm")) {
            harness.open();
            Thread.currentThread().interrupt(); // Cancels the task as Flink does.
            assertThatExceptionOfType(CancelTaskException.class)
                    .isThrownBy(() -> send(harness))
                    .withMessageContaining("while it waited for its rings to open");
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldForwardChunksAndWatermarksWithoutRings() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("flink")) {
            harness.open();
            Chunk chunk = RingFixture.chunk(3, 1);
            harness.processElement(new StreamRecord<>(chunk));
            harness.processWatermark(5);
            assertThat(harness.extractOutputValues()).singleElement().isSameAs(chunk);
            assertThat(harness.getOutput()).contains(new Watermark(5));
            operator(harness).finish();
        }
    }

    @Test
    void shouldFinishOnlyOnceTheJoinHasReceivedAllChunks() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm")) {
            harness.open();
            try (RingReceiver receiver = receiver(harness)) {
                Chunk ticket = firstTicket(harness);
                Thread join = new Thread(() -> assertThat(receive(receiver, ticket)).isEqualTo(1));
                join.start();
                operator(harness).finish();
                assertThatThrownBy(() -> receiver.received(ticket, PayloadAccess.COPY, () -> true))
                        .as("received before the end")
                        .hasMessageContaining("cancelled");
                join.join();
            }
        }
    }

    @Test
    void shouldFinishWhileTheJoinReadsChunksInPlace() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm")) {
            harness.open();
            try (RingReceiver receiver = receiver(harness)) {
                Chunk ticket = firstTicket(harness);
                Chunk chunk =
                        receiver.received(ticket, PayloadAccess.VERIFIED_IN_PLACE, () -> false);
                assertThat(chunk.slot()).isNotNull();
                operator(harness).finish();
                assertThat(RingFixture.number(chunk)).isEqualTo(1);
                chunk.release();
            }
        }
    }

    private static final RingOptions SHARED = RingFixture.options("shm", RingSharing.TASK_MANAGER);

    /** Runs what the mailbox of a task runs between two records. */
    private static void runMails(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness)
            throws Exception {
        while (harness.getTaskMailbox().hasMail()) {
            harness.getTaskMailbox().take(0).run();
        }
    }

    @Test
    void shouldSendTheChunksOfARecordInOneSlotBehindIt() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                harness(SHARED, targets::get)) {
            harness.open();
            try (RingReceiver receiver = receiver(harness, SHARED)) {
                for (int i = 0; i < 3; i++) {
                    harness.processElement(new StreamRecord<>(RingFixture.chunk(i, i)));
                }
                assertThat(harness.extractOutputValues()).as("no ticket before its slot").isEmpty();
                runMails(harness);
                List<Chunk> tickets = harness.extractOutputValues();
                assertThat(tickets).hasSize(3).allMatch(RingTicket::isTicket);
                assertThat(tickets).extracting(RingTicket::slotOf).containsOnly(1L);
                for (int i = 0; i < 3; i++) {
                    assertThat(receive(receiver, tickets.get(i))).isEqualTo(i);
                }
                runMails(harness);
                assertThat(harness.extractOutputValues()).hasSize(3);
                operator(harness).finish();
            }
        }
    }

    /** What must not overtake a chunk. */
    private enum Behind {
        WATERMARK,
        IDLENESS,
        BARRIER,
        LOAD_MARK,
        END
    }

    @ParameterizedTest
    @EnumSource
    void shouldEmitCollectedChunksBefore(Behind behind) throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                harness(SHARED, targets::get)) {
            harness.open();
            try (RingReceiver receiver = receiver(harness, SHARED)) {
                harness.processElement(new StreamRecord<>(RingFixture.chunk(0, 7)));
                assertThat(harness.getOutput()).isEmpty();
                Thread join = null;
                switch (behind) {
                    case WATERMARK -> harness.processWatermark(5);
                    case IDLENESS -> harness.processWatermarkStatus(WatermarkStatus.IDLE);
                    case BARRIER -> operator(harness).prepareSnapshotPreBarrier(1);
                    case LOAD_MARK ->
                            harness.processElement(
                                    new StreamRecord<>(
                                            new LoadMark(0, -1, 0, 1, LoadMark.Status.LOADING)
                                                    .toChunk(RingFixture.SCHEMA)));
                    case END -> {
                        join = new Thread(() -> receiveFirst(harness, receiver));
                        join.start();
                        operator(harness).finish();
                    }
                }
                StreamRecord<?> first = (StreamRecord<?>) harness.getOutput().peek();
                assertThat(RingTicket.isTicket((Chunk) first.getValue())).isTrue();
                if (join == null) {
                    assertThat(receive(receiver, (Chunk) first.getValue())).isEqualTo(7);
                    operator(harness).finish();
                } else {
                    join.join();
                }
            }
        }
    }

    private static void receiveFirst(
            OneInputStreamOperatorTestHarness<Chunk, Chunk> harness, RingReceiver receiver) {
        OpenRings.await(() -> !harness.getOutput().isEmpty());
        StreamRecord<?> ticket = (StreamRecord<?>) harness.getOutput().peek();
        assertThat(receive(receiver, (Chunk) ticket.getValue())).isEqualTo(7);
    }

    private static long receive(RingReceiver receiver, Chunk ticket) {
        try {
            return RingFixture.number(receiver.received(ticket, PayloadAccess.COPY, () -> false));
        } catch (SessionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldWaitForCancellationIfTheJoinClosedWithUnreadChunks() throws Exception {
        // Closing the harness would finish the operator again.
        OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm");
        harness.open();
        RingReceiver receiver = receiver(harness);
        firstTicket(harness);
        receiver.close();
        Thread task = Thread.currentThread();
        Thread flink =
                new Thread(
                        () -> {
                            LockSupport.parkNanos(500_000_000);
                            task.interrupt();
                        });
        flink.start();
        assertThatExceptionOfType(CancelTaskException.class)
                .isThrownBy(() -> operator(harness).finish())
                .withMessageContaining("while it drained its rings");
        assertThat(Thread.interrupted()).isTrue();
        operator(harness).close();
    }

    @Test
    void shouldFinishWithoutAddressesIfThereIsNoInput() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm")) {
            harness.open();
            operator(harness).finish();
        }
    }

    @Test
    void shouldHaveNoState() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("flink")) {
            harness.open();
            assertThat(harness.snapshot(1, 1).hasState()).isFalse();
        }
    }
}
