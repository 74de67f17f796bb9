// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RingsTest extends OpenRings {

    private static final SimulatedFaults FAULTS =
            new SimulatedFaults(5, 20, 5, 5, 50, 5, 2_000_000);
    private static final int CHUNKS = 400;

    @ParameterizedTest(name = "{0}, {1}, seed={2}")
    @CsvSource({
        "shm,COPY,1",
        "shm,VERIFIED_IN_PLACE,4",
        "shm,IN_PLACE,5",
        "in-process,COPY,2",
        "in-process,COPY,3",
        "in-process,VERIFIED_IN_PLACE,6",
        "in-process,IN_PLACE,7",
        "in-process,IN_PLACE,8"
    })
    void shouldDeliverEachChunkOnceAndInOrderDespiteNetworkFaults(
            String transport, PayloadAccess access, long seed) throws Exception {
        InProcessProvider.reset(FAULTS, seed);
        RingReceiver receiver = receiver(transport, 0);
        List<RingSender> senders = List.of(sender(transport, 0, 0), sender(transport, 1, 0));
        Random random = new Random(seed);
        Deque<Chunk> channel = new ArrayDeque<>();
        Deque<Long> sent = new ArrayDeque<>();
        List<Chunk> held = new ArrayList<>();
        int throughRings = 0;
        for (long number = 0; number < CHUNKS; number++) {
            Chunk chunk = RingFixture.chunk(random.nextInt(RingFixture.PARTITIONS), number);
            RingSender sender = senders.get(random.nextInt(2));
            await(() -> sender.openRings() == 1);
            channel.add(send(sender, chunk));
            sent.add(number);
            throughRings += RingTicket.isTicket(channel.getLast()) ? 1 : 0;
            while (channel.size() > random.nextInt(8)) {
                Chunk received = receiver.received(channel.remove(), access, () -> false);
                assertThat(RingFixture.number(received)).isEqualTo(sent.remove());
                held.add(received);
            }
            while (held.size() > random.nextInt(4)) {
                held.remove(random.nextInt(held.size())).release();
            }
        }
        assertThat(throughRings).as("chunks through rings").isBetween(CHUNKS / 2, CHUNKS);
        held.forEach(Chunk::release);
        long copied = receiver.payloadBytesCopied() / RingFixture.chunk(0, 0).lengthBytes();
        if (access == PayloadAccess.COPY) {
            assertThat(copied).as("copied chunks").isGreaterThan(throughRings - 10);
        } else {
            assertThat(copied).as("copied chunks").isLessThan(throughRings / 2);
        }
    }

    @Test
    void shouldSendInlineIfTheRingIsFullOrTheChunkTooLong() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        List<Chunk> sent = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            sent.add(send(sender, RingFixture.chunk(0, i)));
        }
        assertThat(sent)
                .extracting(RingTicket::isTicket)
                .containsExactly(true, true, true, true, false, false);
        assertThat(sender.isDrained()).isFalse();
        for (int i = 0; i < 6; i++) {
            Chunk received = receiver.received(sent.get(i), PayloadAccess.COPY, () -> false);
            assertThat(RingFixture.number(received)).isEqualTo(i);
        }
        await(() -> isDrained(sender));
        Chunk large = RingFixture.longChunk(64 << 10);
        assertThat(send(sender, large)).isSameAs(large);
    }

    private static boolean isDrained(RingSender sender) {
        try {
            return sender.isDrained();
        } catch (SessionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldSendEachPartitionToItsOwner() throws Exception {
        List<RingReceiver> receivers = List.of(receiver("shm", 0), receiver("shm", 1));
        RingSender sender = sender("shm", 0, 0);
        for (int partition = 0; partition < RingFixture.PARTITIONS; partition++) {
            Chunk ticket = send(sender, RingFixture.chunk(partition, partition));
            RingReceiver owner = receivers.get(partition < RingFixture.PARTITIONS / 2 ? 0 : 1);
            Chunk received = owner.received(ticket, PayloadAccess.COPY, () -> false);
            assertThat(RingFixture.number(received)).isEqualTo(partition);
        }
    }

    @Test
    void shouldSendInlineBeforeAnAddressIsKnown() throws Exception {
        RingSender sender =
                new RingSender(
                        RingFixture.options("shm"),
                        JoinSide.PROBE,
                        RingFixture.task(job, 0, 0, NO_CONFIG),
                        RingFixture.coordinator(List::of),
                        (chunk, sent, slotBytes) -> emitted.add(sent));
        opened.add(sender);
        Chunk chunk = RingFixture.chunk(0, 1);
        assertThat(send(sender, chunk)).isSameAs(chunk);
        assertThat(sender.isDrained()).isTrue();
    }

    /** Flink cancels the sender, and reports the failure of the receiver's task. */
    @Test
    void shouldNotFailTheSenderOfAClosedReceiver() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 0);
        send(sender, RingFixture.chunk(0, 1));
        receiver.close();
        await(() -> sender.openRings() == 0);
        Chunk chunk = RingFixture.chunk(0, 2);
        for (int i = 0; i < 50; i++) {
            assertThat(send(sender, chunk)).isSameAs(chunk);
            assertThat(sender.isDrained()).isFalse();
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(sender.lastLoss()).startsWith("Peer closed the session");
    }

    @Test
    void shouldRejectAnEarlierAttemptOnceALaterOneIsConnected() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender earlier = sender("shm", 0, 0);
        RingSender later = sender("shm", 0, 1);
        Chunk ticket = send(later, RingFixture.chunk(0, 1));
        assertThat(RingFixture.number(receiver.received(ticket, PayloadAccess.COPY, () -> false)))
                .isEqualTo(1);
        await(() -> earlier.openRings() == 0);
        assertThatExceptionOfType(SessionException.class)
                .isThrownBy(() -> sendUntilItFails(earlier))
                .withMessageContaining("refusal=STALE_ATTEMPT");
    }

    private void sendUntilItFails(RingSender sender) throws IOException {
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < RingFixture.TIMEOUT_NS) {
            send(sender, RingFixture.chunk(0, 0));
        }
    }

    @Test
    void shouldRejectATicketThatIsNotForTheNextChunk() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        RingSender sender = sender("shm", 0, 3);
        Chunk first = send(sender, RingFixture.chunk(0, 1));
        Chunk second = send(sender, RingFixture.chunk(0, 2));
        assertThatIllegalStateException()
                .isThrownBy(() -> receiver.received(second, PayloadAccess.COPY, () -> false))
                .withMessageContaining("Ticket is not for the next chunk of its ring")
                .withMessageContaining("next=1, ticket=2");
        receiver.received(first, PayloadAccess.COPY, () -> false);
        Chunk ofAnotherChunk =
                new RingTicket.Writer(RingTicket.channel(JoinSide.PROBE, 0))
                        .write(RingFixture.chunk(0, 7), RingFixture.chunk(0, 7).bytes(), 2);
        assertThatIllegalStateException()
                .isThrownBy(
                        () -> receiver.received(ofAnotherChunk, PayloadAccess.COPY, () -> false))
                .withMessageContaining("Chunk of a ring does not match its ticket");
    }

    @Test
    void shouldRejectATicketOfAnUnknownRing() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        Chunk ticket =
                new RingTicket.Writer(RingTicket.channel(JoinSide.BUILD, 0))
                        .write(RingFixture.chunk(0, 1), RingFixture.chunk(0, 1).bytes(), 1);
        assertThatIllegalStateException()
                .isThrownBy(() -> receiver.received(ticket, PayloadAccess.COPY, () -> false))
                .withMessageContaining("Ticket of an unknown ring: channel=0, rings=2");
    }

    @Test
    void shouldStopWaitingForAChunkWhenTheTaskIsCancelled() throws Exception {
        RingReceiver receiver = receiver("shm", 0);
        Chunk ticket =
                new RingTicket.Writer(RingTicket.channel(JoinSide.PROBE, 0))
                        .write(RingFixture.chunk(0, 1), RingFixture.chunk(0, 1).bytes(), 1);
        assertThatExceptionOfType(CancelTaskException.class)
                .isThrownBy(() -> receiver.received(ticket, PayloadAccess.COPY, () -> true));
    }

    @Test
    void shouldFailTheSenderIfAnAddressIsNotUsable() throws Exception {
        RingSender sender =
                new RingSender(
                        RingFixture.options("shm"),
                        JoinSide.PROBE,
                        RingFixture.task(job, 0, 0, NO_CONFIG),
                        RingFixture.coordinator(
                                () ->
                                        List.of(
                                                new Target(
                                                        new Endpoint("0.0.0.0", 1, new byte[32]),
                                                        null))),
                        (chunk, sent, slotBytes) -> emitted.add(sent));
        opened.add(sender);
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> sendUntilItFails(sender))
                .withMessageContaining("Sender cannot connect to the join's rings")
                .withMessageContaining("Rings cannot use a wildcard or multicast address");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = ';',
            value = {
                "0.0.0.0;Rings cannot use a wildcard or multicast address",
                "192.0.2.1;is not an address of this host",
                "no.such.host.invalid;is not an address of this host"
            })
    void shouldRejectUnsafeOrUnknownAddresses(String host, String fault) {
        Configuration taskManager = new Configuration();
        taskManager.set(GpuJoinOptions.RING_BIND_ADDRESS, host);
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(
                        () ->
                                RingReceiver.open(
                                        RingFixture.options("shm"),
                                        Map.of(JoinSide.PROBE, RingFixture.writers(1)),
                                        RingFixture.task(job, 0, 0, taskManager),
                                        event -> {},
                                        RingFixture.UNLIMITED))
                .withMessageContaining(fault)
                .withMessageContaining(host);
    }

    @Test
    void shouldRejectTooManyRings() {
        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(
                        () ->
                                RingReceiver.open(
                                        RingFixture.options("shm"),
                                        Map.of(
                                                JoinSide.PROBE,
                                                RingFixture.writers(40),
                                                JoinSide.BUILD,
                                                RingFixture.writers(25)),
                                        RingFixture.task(job, 0, 0, NO_CONFIG),
                                        event -> {},
                                        RingFixture.UNLIMITED))
                .havingCause()
                .isInstanceOf(IllegalConfigurationException.class)
                .withMessage(
                        "Too many rings: 65 into each subtask of the join, each of 38 KiB, a thread"
                                + " and a socket on either side; gpu-join.ring.max-rings=64.\n"
                                + "Lower the parallelism, set gpu-join.ring.sharing: task_manager"
                                + " and raise that option, or set gpu-join.transport: flink.");
    }

    @Test
    void shouldNameTheTransportsOnTheClassPath() {
        assertThatExceptionOfType(IllegalConfigurationException.class)
                .isThrownBy(() -> RingFixture.options("pigeon"))
                .withMessageContaining("Use flink or one of disni, in-process, shm, simulated.")
                .withMessageContaining("transport=pigeon");
    }
}
