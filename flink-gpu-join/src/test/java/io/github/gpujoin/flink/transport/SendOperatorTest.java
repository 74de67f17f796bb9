package io.github.gpujoin.flink.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.chunk.ChunkTypeInfo;
import io.github.gpujoin.flink.transport.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SendOperatorTest {

    private static OneInputStreamOperatorTestHarness<Chunk, Chunk> harness(String transport)
            throws Exception {
        OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(
                        new SendOperatorFactory(RingFixture.options(transport), JoinInput.PROBE));
        harness.setup(
                ChunkTypeInfo.of(RingFixture.SCHEMA)
                        .createSerializer(harness.getExecutionConfig().getSerializerConfig()));
        return harness;
    }

    private static SendOperator operator(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness) {
        return (SendOperator) harness.getOperator();
    }

    /** A subtask of the join that the operator is told of. */
    private static RingReceiver receiver(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness)
            throws Exception {
        JobInfo job = harness.getEnvironment().getJobInfo();
        TaskInfo task = harness.getEnvironment().getTaskInfo();
        AtomicReference<ReaderAddress> announced = new AtomicReference<>();
        RingReceiver receiver =
                RingReceiver.open(
                        RingFixture.options("shm"),
                        Map.of(JoinInput.PROBE, 1),
                        job,
                        task,
                        new Configuration(),
                        event -> announced.set((ReaderAddress) event));
        ReaderAddress address = announced.get();
        byte[] token =
                new JobSecret(address.secret())
                        .token(Rendezvous.uuid(job.getJobId()), task.getAttemptNumber())
                        .bytes();
        operator(harness)
                .handleOperatorEvent(
                        new WriterAddresses(
                                List.of(new Target(address.host(), address.port(), token))));
        return receiver;
    }

    /** Sends chunks until one goes through the ring. */
    private static Chunk firstTicket(OneInputStreamOperatorTestHarness<Chunk, Chunk> harness)
            throws Exception {
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < RingFixture.PATIENCE_NS) {
            harness.processElement(new StreamRecord<>(RingFixture.chunk(0, 1)));
            List<Chunk> sent = harness.extractOutputValues();
            if (RingTicket.isTicket(sent.get(sent.size() - 1))) {
                return sent.get(sent.size() - 1);
            }
        }
        throw new AssertionError("the ring opens in time");
    }

    @Test
    void shouldPassChunksAndWatermarksOnWithoutRings() throws Exception {
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
    void shouldEndOnlyOnceTheJoinHasTakenAllChunks() throws Exception {
        long openBefore = Region.openCount();
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm")) {
            harness.open();
            try (RingReceiver receiver = receiver(harness)) {
                Chunk ticket = firstTicket(harness);
                Thread join = new Thread(() -> assertThat(take(receiver, ticket)).isEqualTo(1));
                join.start();
                operator(harness).finish();
                assertThatThrownBy(() -> receiver.received(ticket, () -> true))
                        .as("taken before the end")
                        .hasMessageContaining("cancelled");
                join.join();
            }
        }
        assertThat(Region.openCount()).isEqualTo(openBefore);
    }

    private static long take(RingReceiver receiver, Chunk ticket) {
        try {
            return RingFixture.number(receiver.received(ticket, () -> false));
        } catch (SessionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldFailAtTheEndWhereTheJoinIsGoneWithChunksNotTaken() throws Exception {
        // Closing the harness would end the operator once more.
        OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm");
        harness.open();
        RingReceiver receiver = receiver(harness);
        firstTicket(harness);
        receiver.close();
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> operator(harness).finish())
                .withMessageContaining("the peer closed its end");
        operator(harness).close();
    }

    @Test
    void shouldNeedNoAddressOnceItsInputHasEnded() throws Exception {
        try (OneInputStreamOperatorTestHarness<Chunk, Chunk> harness = harness("shm")) {
            harness.open();
            operator(harness).finish();
            operator(harness)
                    .handleOperatorEvent(
                            new WriterAddresses(List.of(new Target("127.0.0.1", 1, new byte[32]))));
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
