// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.api.options.RingSharing;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two subtasks of the join in one TaskManager, to which two subtasks send. */
class SharedRingsTest extends OpenRings {

    private static final SimulatedFaults FAULTS =
            new SimulatedFaults(5, 20, 5, 5, 50, 5, 2_000_000);
    private static final int CHUNKS = 400;
    private static final int RECEIVERS = 2;
    private static final int HALF = RingFixture.PARTITIONS / RECEIVERS;

    private static RingOptions shared(String transport) {
        return RingFixture.options(transport, RingSharing.TASK_MANAGER);
    }

    private List<RingReceiver> receivers(RingOptions options) throws IOException {
        return List.of(receiver(options, 0), receiver(options, 1));
    }

    private static Chunk received(RingReceiver receiver, Chunk sent) throws IOException {
        return receiver.received(sent, PayloadAccess.VERIFIED_IN_PLACE, () -> false);
    }

    /**
     * Each subtask lags behind by itself. A lag keeps slots from the other one, and the sender then
     * emits chunks themselves, in the order of their channel.
     */
    @ParameterizedTest(name = "{0}, {1}, seed={2}")
    @CsvSource({
        "shm,COPY,1",
        "shm,VERIFIED_IN_PLACE,2",
        "shm,IN_PLACE,3",
        "in-process,COPY,4",
        "in-process,VERIFIED_IN_PLACE,5",
        "in-process,IN_PLACE,6",
        "in-process,IN_PLACE,7",
        "in-process,VERIFIED_IN_PLACE,8"
    })
    void shouldDeliverEachChunkOnceAndInOrderOfItsChannelDespiteNetworkFaults(
            String transport, PayloadAccess access, long seed) throws Exception {
        InProcessProvider.reset(FAULTS, seed);
        Random random = new Random(seed);
        List<RingReceiver> receivers = receivers(shared(transport));
        List<RingSender> senders =
                List.of(sender(shared(transport), 0, 0), sender(shared(transport), 1, 0));
        List<Deque<Chunk>> channels = List.of(new ArrayDeque<>(), new ArrayDeque<>());
        List<Deque<Long>> sent = List.of(new ArrayDeque<>(), new ArrayDeque<>());
        List<Chunk> held = new ArrayList<>();
        int throughRings = 0;
        for (long number = 0; number < CHUNKS; ) {
            RingSender sender = senders.get(random.nextInt(2));
            await(() -> areAllOpen(sender));
            emitted.clear();
            for (int batch = random.nextInt(6); batch >= 0; batch--) {
                int partition = random.nextInt(RingFixture.PARTITIONS);
                sender.send(RingFixture.chunk(partition, number));
                sent.get(partition / HALF).add(number++);
            }
            sender.flush();
            for (Chunk chunk : emitted) {
                channels.get(chunk.partition() / HALF).add(chunk);
                throughRings += RingTicket.isTicket(chunk) ? 1 : 0;
            }
            for (int receiver = 0; receiver < RECEIVERS; receiver++) {
                while (channels.get(receiver).size() > random.nextInt(16)) {
                    Chunk chunk =
                            receivers
                                    .get(receiver)
                                    .received(channels.get(receiver).remove(), access, () -> false);
                    assertThat(RingFixture.number(chunk)).isEqualTo(sent.get(receiver).remove());
                    held.add(chunk);
                }
            }
            while (held.size() > random.nextInt(4)) {
                held.remove(random.nextInt(held.size())).release();
            }
        }
        held.forEach(Chunk::release);
        assertThat(throughRings).as("chunks through rings").isGreaterThan(CHUNKS / 4);
    }

    /** Both subtasks and both senders run in threads of their own, as tasks do. */
    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldServeSubtasksInSeveralThreads(long seed) throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        int perSender = 3_000;
        List<List<ConcurrentLinkedQueue<Chunk>>> channels = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(2 * RECEIVERS);
        List<Future<?>> ends = new ArrayList<>();
        List<RingSender> senders = new ArrayList<>();
        for (int subtask = 0; subtask < 2; subtask++) {
            List<ConcurrentLinkedQueue<Chunk>> outputs =
                    List.of(new ConcurrentLinkedQueue<>(), new ConcurrentLinkedQueue<>());
            channels.add(outputs);
            senders.add(
                    senderInto(subtask, sent -> outputs.get(sent.partition() / HALF).add(sent)));
        }
        for (int subtask = 0; subtask < 2; subtask++) {
            RingSender sender = senders.get(subtask);
            Random random = new Random(seed + subtask);
            ends.add(
                    threads.submit(
                            () -> {
                                for (int i = 0; i < perSender; i++) {
                                    int partition = random.nextInt(RingFixture.PARTITIONS);
                                    sender.send(RingFixture.chunk(partition, i));
                                    if (random.nextInt(5) == 0) {
                                        sender.flush();
                                    }
                                }
                                sender.flush();
                                return null;
                            }));
        }
        for (int subtask = 0; subtask < RECEIVERS; subtask++) {
            int number = subtask;
            ends.add(
                    threads.submit(
                            () -> {
                                receiveAll(receivers.get(number), number, channels, ends);
                                return null;
                            }));
        }
        for (Future<?> end : ends) {
            end.get(30, TimeUnit.SECONDS);
        }
        threads.shutdown();
        long received = channels.stream().flatMap(List::stream).mapToLong(c -> c.size()).sum();
        assertThat(received).as("chunks left in channels").isZero();
    }

    private RingSender senderInto(int subtask, Consumer<Chunk> channel) throws IOException {
        RingSender sender =
                new RingSender(
                        shared("shm"),
                        JoinSide.PROBE,
                        RingFixture.task(job, subtask, 0, NO_CONFIG),
                        RingFixture.coordinator(() -> targetsOf(0)),
                        (chunk, sent, bytes) -> channel.accept(sent));
        opened.add(sender);
        await(() -> areAllOpen(sender));
        return sender;
    }

    /** Reads both channels into a subtask, each in its order, until both senders have ended. */
    private static void receiveAll(
            RingReceiver receiver,
            int subtask,
            List<List<ConcurrentLinkedQueue<Chunk>>> channels,
            List<Future<?>> ends)
            throws IOException {
        long[] last = {-1, -1};
        List<Chunk> held = new ArrayList<>();
        boolean senderRuns = true;
        boolean isEmpty = false;
        while (senderRuns || !isEmpty) {
            senderRuns = !ends.get(0).isDone() || !ends.get(1).isDone();
            isEmpty = true;
            for (int sender = 0; sender < 2; sender++) {
                Chunk arrived = channels.get(sender).get(subtask).poll();
                if (arrived != null) {
                    isEmpty = false;
                    Chunk chunk = received(receiver, arrived);
                    assertThat(RingFixture.number(chunk)).isGreaterThan(last[sender]);
                    last[sender] = RingFixture.number(chunk);
                    held.add(chunk);
                }
            }
            if (held.size() > 3 || isEmpty) {
                held.forEach(Chunk::release);
                held.clear();
                LockSupport.parkNanos(isEmpty ? 10_000 : 1);
            }
        }
    }

    @Test
    void shouldSendSmallChunksForAllSubtasksOfATaskManagerInOneSlot() throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        RingSender sender = sender(shared("shm"), 0, 0);
        assertThat(sender.openRings()).as("one ring for both subtasks").isEqualTo(1);
        for (int i = 0; i < 8; i++) {
            sender.send(RingFixture.chunk(i % 2 * HALF, i));
        }
        assertThat(emitted).as("no ticket before its slot").isEmpty();
        assertThat(sender.holdsChunks()).isTrue();
        sender.flush();
        assertThat(emitted).hasSize(8).allMatch(RingTicket::isTicket);
        assertThat(sender.occupiedSlots()).isEqualTo(1);
        for (int i = 7; i >= 0; i--) {
            // The order of subtasks among each other is free, and so is that of a chunk's release.
            Chunk chunk = received(receivers.get(i % 2), emitted.get(i));
            assertThat(RingFixture.number(chunk)).isEqualTo(i);
            assertThat(chunk.slot()).as("it would keep the slot from the writer").isNull();
            chunk.release();
        }
        await(() -> sender.occupiedSlots() == 0);
        assertThat(sender.sharedMetrics().chunkCount()).isEqualTo(8);
        assertThat(sender.sharedMetrics().slotCount()).isEqualTo(1);
        assertThat(sender.sharedMetrics().bytesPerSlot())
                .isEqualTo(8.0 * RingFixture.chunk(0, 0).lengthBytes());
        assertThat(sender.sharedMetrics()).hasToString("slotsOfSharedRings=1, chunksPerSlot=8.0");
    }

    /** As while one subtask aligns a barrier, or its sink is slow. */
    @Test
    void shouldReceiveWhileAnotherSubtaskReceivesNothing() throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        RingSender sender = sender(shared("shm"), 0, 0);
        List<Chunk> ofTheSlowOne = new ArrayList<>();
        long startNs = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            ofTheSlowOne.add(send(sender, RingFixture.chunk(0, i)));
            Chunk chunk = received(receivers.get(1), send(sender, RingFixture.chunk(HALF, i)));
            assertThat(RingFixture.number(chunk)).isEqualTo(i);
            chunk.release();
        }
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs))
                .as("time in ms; a wait of 10 ms a chunk would take 20 s")
                .isLessThan(10_000);
        assertThat(ofTheSlowOne.stream().filter(RingTicket::isTicket).count())
                .as("chunks in slots")
                .isEqualTo(2);
        assertThat(receivers.get(1).hasRoom()).as("it holds nothing itself").isTrue();
        for (int i = 0; i < ofTheSlowOne.size(); i++) {
            Chunk chunk = received(receivers.get(0), ofTheSlowOne.get(i));
            assertThat(RingFixture.number(chunk)).isEqualTo(i);
            chunk.release();
        }
        await(() -> sender.occupiedSlots() == 0);
        assertThat(RingTicket.isTicket(send(sender, RingFixture.chunk(0, 0)))).isTrue();
    }

    @Test
    void shouldReceiveArrivedChunksAfterTheSenderHasEnded() throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        RingSender sender = sender(shared("shm"), 0, 0);
        sender.send(RingFixture.chunk(0, 5));
        sender.send(RingFixture.chunk(HALF, 6));
        sender.flush();
        Chunk chunk = received(receivers.get(1), emitted.get(1));
        await(() -> isDrained(sender));
        sender.close();
        receivers.get(1).close();
        assertThat(RingFixture.number(chunk)).isEqualTo(6);
        chunk.release();
        Chunk later = received(receivers.get(0), emitted.get(0));
        assertThat(RingFixture.number(later)).isEqualTo(5);
        later.release();
    }

    private static boolean isDrained(RingSender sender) {
        try {
            return sender.isDrained();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldDiscardArrivedChunksOfAnEarlierAttempt() throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        RingSender earlier = sender(shared("shm"), 0, 0);
        earlier.send(RingFixture.chunk(0, 1));
        earlier.send(RingFixture.chunk(HALF, 2));
        earlier.flush();
        received(receivers.get(1), emitted.get(1)).release();
        RingSender later = sender(shared("shm"), 0, 1);
        for (int i = 0; i < 12; i++) {
            Chunk chunk = received(receivers.get(0), send(later, RingFixture.chunk(0, 10 + i)));
            assertThat(RingFixture.number(chunk)).isEqualTo(10 + i);
            chunk.release();
        }
    }

    @Test
    void shouldShareOnlyWithinATaskManager() throws Exception {
        RingOptions options = shared("shm");
        receiver(options, 0);
        receiver(options, 1);
        receiver(options, new RingTask(job, "task", 2, 0, "other", NO_CONFIG));
        assertThat(addresses).extracting(ReaderAddress::own).containsOnlyNulls();
        assertThat(isSharedWithFirst(1)).isTrue();
        assertThat(isSharedWithFirst(2)).isFalse();
        assertThat(sender(options, 0, 0).openRings()).isEqualTo(2);
    }

    private boolean isSharedWithFirst(int receiver) {
        return addresses.get(0).shared().isServerOf(addresses.get(receiver).shared());
    }

    /** The adaptive scheduler starts an added subtask with attempt 0 beside restarted ones. */
    @Test
    void shouldShareAmongSubtasksOfDifferentAttemptsInOneExecution() throws Exception {
        RingOptions options = shared("shm");
        receiver(options, RingFixture.task(job, 0, 3, NO_CONFIG));
        receiver(options, RingFixture.task(job, 1, 0, NO_CONFIG));
        assertThat(isSharedWithFirst(1)).isTrue();
    }

    /** The default scheduler restarts all connected subtasks in one execution graph. */
    @Test
    void shouldNotShareWithSubtasksOfARestart() throws Exception {
        ExecutionGraphID execution = new ExecutionGraphID();
        RingOptions options = shared("shm");
        writers = RingFixture.writers(2, execution, 0);
        receiver(options, 0);
        writers = RingFixture.writers(2, execution, 1);
        receiver(options, RingFixture.task(job, 1, 1, NO_CONFIG));
        assertThat(isSharedWithFirst(1)).isFalse();
    }

    /**
     * After a failover, the new JobMaster counts attempts from 0 again, while a subtask of the last
     * execution is still being cancelled. Chunks of that one are in slots, read, claimed or not.
     */
    @ParameterizedTest(name = "{0} of 3 slots were read")
    @ValueSource(ints = {0, 1, 3})
    void shouldReceiveOnlyChunksOfItsExecutionAfterTheJobMasterFailedOver(int readCount)
            throws Exception {
        RingOptions options = shared("shm");
        List<RingReceiver> old = receivers(options);
        RingSender oldSender = sender(options, 0, 0);
        for (int i = 0; i < 3; i++) {
            emitted.clear();
            oldSender.send(RingFixture.chunk(0, i));
            oldSender.send(RingFixture.chunk(HALF, i));
            oldSender.flush();
            if (i < readCount) {
                received(old.get(1), emitted.get(1)).release();
            }
        }
        oldSender.close();
        old.get(0).close();
        addresses.clear();
        writers = RingFixture.writers(2);
        List<RingReceiver> receivers = receivers(options);
        RingSender sender = sender(options, 0, 0);
        for (int i = 0; i < 8; i++) {
            Chunk sent = send(sender, RingFixture.chunk(i % 2 * HALF, 100 + i));
            assertThat(RingTicket.isTicket(sent)).isTrue();
            Chunk chunk = received(receivers.get(i % 2), sent);
            assertThat(RingFixture.number(chunk)).isEqualTo(100 + i);
            chunk.release();
        }
    }

    @Test
    void shouldReserveSharedRingsOnceUntilTheLastSubtaskLeaves() throws Exception {
        Reservations first = new Reservations();
        Reservations second = new Reservations();
        RingReceiver payer = open(0, first, RingSharing.TASK_MANAGER);
        RingReceiver other = open(1, second, RingSharing.TASK_MANAGER);
        long ringBytes = shared("shm").geometry().lengthBytes();
        assertThat(first.openBytes).isEqualTo(2 * ringBytes);
        assertThat(second.openBytes).isZero();
        payer.close();
        assertThat(first.openBytes).as("the other still uses them").isEqualTo(2 * ringBytes);
        other.close();
        assertThat(first.openBytes).isZero();
    }

    /** No server of closed rings may still need the memory that the next user reserves. */
    @Test
    void shouldReserveForTheNextUserOnlyAfterTheRingsOfTheLastHaveClosed() throws Exception {
        Reservations memory = new Reservations();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int i = 0; i < 20; i++) {
                RingReceiver last = open(0, memory, RingSharing.TASK_MANAGER);
                Future<?> closed = threads.submit(() -> closed(last));
                Future<RingReceiver> next =
                        threads.submit(() -> open(1, memory, RingSharing.TASK_MANAGER));
                closed.get(30, TimeUnit.SECONDS);
                next.get(30, TimeUnit.SECONDS).close();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(memory.mostOpenBytes).isEqualTo(2 * shared("shm").geometry().lengthBytes());
        assertThat(memory.openBytes).isZero();
    }

    private static Void closed(RingReceiver receiver) throws Exception {
        receiver.close();
        return null;
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(RingSharing.class)
    void shouldFreeTheMemoryOfRingsIfAnErrorInterruptsTheirOpening(RingSharing sharing)
            throws Exception {
        Reservations memory = new Reservations();
        Configuration exhausted =
                new Configuration() {
                    @Override
                    public <T> Optional<T> getOptional(ConfigOption<T> option) {
                        throw new OutOfMemoryError("injected");
                    }
                };
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> open(0, memory, sharing, exhausted));
        assertThat(memory.openBytes).isZero();
        open(0, memory, sharing, NO_CONFIG).close();
        assertThat(memory.openBytes).isZero();
    }

    @Test
    void shouldCloseSharedRingsIfAnErrorInterruptsTheOpeningOfOwnOnes() {
        Reservations memory =
                new Reservations() {
                    @Override
                    public AutoCloseable tryReserve(long lengthBytes) {
                        throw new OutOfMemoryError("injected");
                    }
                };
        assertThatExceptionOfType(OutOfMemoryError.class)
                .isThrownBy(() -> open(0, memory, RingSharing.AUTO));
        assertThat(memory.openBytes).isZero();
    }

    @Test
    void shouldDescribeTheSharing() {
        assertThat(shared("shm").description())
                .isEqualTo("shm, rings shared by TaskManager: TASK_MANAGER");
        assertThat(RingFixture.options("shm").description()).isEqualTo("shm");
        assertThat(shared("flink").description())
                .isEqualTo("flink; gpu-join.ring.sharing=TASK_MANAGER has no effect without rings");
    }

    @Test
    void shouldOfferNoRingsOfItsOwnIfTheyAreNoSmallPartOfTheMemory() throws Exception {
        Reservations memory = new Reservations();
        memory.isSmall = true;
        open(0, memory, RingSharing.AUTO);
        assertThat(addresses.get(0).own()).isNull();
        assertThat(addresses.get(0).shared()).isNotNull();
    }

    private RingReceiver open(int subtask, RingReservations memory, RingSharing sharing)
            throws IOException {
        return open(subtask, memory, sharing, NO_CONFIG);
    }

    private RingReceiver open(
            int subtask, RingReservations memory, RingSharing sharing, Configuration taskManager)
            throws IOException {
        RingReceiver receiver =
                RingReceiver.open(
                        RingFixture.options("shm", sharing),
                        Map.of(JoinSide.PROBE, writers),
                        RingFixture.task(job, subtask, 0, taskManager),
                        event -> addresses.add((ReaderAddress) event),
                        memory);
        opened.add(receiver);
        return receiver;
    }

    /** Counts the bytes of open reservations. */
    private static class Reservations implements RingReservations {

        private long openBytes;
        private long mostOpenBytes;
        private boolean isSmall;

        @Override
        public AutoCloseable reserve(long lengthBytes) {
            add(lengthBytes);
            return () -> add(-lengthBytes);
        }

        private synchronized void add(long lengthBytes) {
            openBytes += lengthBytes;
            mostOpenBytes = Math.max(mostOpenBytes, openBytes);
        }

        @Override
        public AutoCloseable tryReserve(long lengthBytes) {
            return isSmall ? null : reserve(lengthBytes);
        }
    }

    @Test
    void shouldChooseTheRingByTheMeasuredLengthOfChunks() throws Exception {
        RingOptions options = RingFixture.options("shm", RingSharing.AUTO);
        List<RingReceiver> receivers = receivers(options);
        RingSender sender = sender(options, 0, 0);
        Chunk large = RingFixture.longChunk(options.payloadBytes() * 3 / 4);
        sendAndReceive(sender, receivers.get(0), RingFixture.chunk(0, 1), 64);
        assertThat(sender.openRings()).as("small chunks share").isEqualTo(1);
        assertThat(sender.channelsThatShare()).isEqualTo(2);

        sendAndReceive(sender, receivers.get(0), large, 64);
        assertThat(sender.channelsThatShare()).as("chunks of one channel are large").isEqualTo(1);
        await(() -> sender.openRings() == 2);
        long sharedBefore = sender.sharedMetrics().chunkCount();
        sendAndReceive(sender, receivers.get(0), large, 8);
        assertThat(sender.sharedMetrics().chunkCount()).isEqualTo(sharedBefore);

        sendAndReceive(sender, receivers.get(0), RingFixture.chunk(0, 1), 64);
        assertThat(sender.channelsThatShare()).isEqualTo(2);
        assertThat(sender.sharedMetrics().chunkCount()).isGreaterThan(sharedBefore);
    }

    private void sendAndReceive(RingSender sender, RingReceiver receiver, Chunk chunk, int count)
            throws IOException {
        for (int i = 0; i < count; i++) {
            Chunk received = received(receiver, send(sender, chunk));
            assertThat(received.bytes()).isEqualTo(chunk.bytes());
            received.release();
        }
    }

    /** A change of the ring must not change the order of the channel. */
    @Test
    void shouldEmitCollectedChunksBeforeThoseOfAnotherRing() throws Exception {
        RingOptions options = RingFixture.options("shm", RingSharing.AUTO);
        List<RingReceiver> receivers = receivers(options);
        RingSender sender = sender(options, 0, 0);
        Chunk large = RingFixture.longChunk(options.payloadBytes() * 3 / 4);
        sendAndReceive(sender, receivers.get(0), large, 64);
        await(() -> sender.openRings() == 2);
        emitted.clear();
        sender.send(RingFixture.chunk(HALF, 1));
        sender.send(large);
        assertThat(emitted).extracting(Chunk::partition).containsExactly(HALF, 0);
        assertThat(RingTicket.channelOf(emitted.get(0)))
                .isEqualTo(RingTicket.sharedChannel(JoinSide.PROBE, 0));
        assertThat(RingTicket.channelOf(emitted.get(1)))
                .isEqualTo(RingTicket.channel(JoinSide.PROBE, 0));
        received(receivers.get(1), emitted.get(0)).release();
        received(receivers.get(0), emitted.get(1)).release();
    }

    @Test
    void shouldRejectATicketOfAChunkThatWasReceived() throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        RingSender sender = sender(shared("shm"), 0, 0);
        sender.send(RingFixture.chunk(0, 1));
        sender.send(RingFixture.chunk(HALF, 2));
        sender.flush();
        Chunk ticket = emitted.get(0);
        received(receivers.get(0), ticket).release();
        assertThatIllegalStateException()
                .isThrownBy(() -> received(receivers.get(0), ticket))
                .withMessageContaining("Slot has no unclaimed chunk of that number")
                .withMessageContaining("slot=1, chunk=0, takenSlots=1");
        received(receivers.get(1), emitted.get(1)).release();
        assertThatIllegalStateException()
                .isThrownBy(() -> received(receivers.get(0), ticket))
                .withMessageContaining("Slot of a ticket was released");
    }

    @ParameterizedTest(name = "length={0}")
    @ValueSource(ints = {0, -8, 63, 68, 1 << 20})
    void shouldRejectASlotWithAChunkOfAWrongLength(int lengthBytes) throws Exception {
        List<RingReceiver> receivers = receivers(shared("shm"));
        RingSender sender = sender(shared("shm"), 0, 0);
        Chunk chunk = RingFixture.chunk(0, 1);
        byte[] bytes = chunk.bytes().clone();
        Memory.putInt(bytes, Memory.BYTES + ChunkDescriptor.LENGTH_OFFSET, lengthBytes);
        long sequence =
                sender.ends().get(0).send(List.of(bytes, bytes), 1_000_000_000, new TimerGauge());
        Chunk ticket =
                new RingTicket.Writer(RingTicket.sharedChannel(JoinSide.PROBE, 0))
                        .write(chunk, bytes, RingTicket.position(sequence, 0));
        assertThatIllegalStateException()
                .isThrownBy(() -> received(receivers.get(0), ticket))
                .withMessageContaining(
                        "Slot of a shared ring is damaged: channel=196608, attempt=0, slot=1,"
                                + " cause=Chunk has a wrong length: offset=0, chunkBytes="
                                + lengthBytes)
                .withMessageContaining("slotBytes=256.\nThe job restarts.");
        Chunk ticketOfAnother =
                new RingTicket.Writer(RingTicket.sharedChannel(JoinSide.PROBE, 0))
                        .write(chunk, bytes, RingTicket.position(sequence, 1));
        assertThatIllegalStateException()
                .as("the subtask that did not find the fault")
                .isThrownBy(() -> received(receivers.get(1), ticketOfAnother))
                .withMessageContaining("Slot of a shared ring is damaged: channel=196608");
    }

    @Test
    void shouldSendAChunkInlineThatIsLongerThanASlot() throws Exception {
        receivers(shared("shm"));
        RingSender sender = sender(shared("shm"), 0, 0);
        Chunk large = RingFixture.longChunk(64 << 10);
        sender.send(RingFixture.chunk(0, 1));
        sender.send(large);
        assertThat(emitted).as("in the order of the channel").hasSize(2);
        assertThat(RingTicket.isTicket(emitted.get(0))).isTrue();
        assertThat(emitted.get(1)).isSameAs(large);
    }

    @Test
    void shouldRejectAChunkThatANetworkOverwritesWhileItIsRead() throws Exception {
        List<RingReceiver> receivers = receivers(shared("in-process"));
        RingSender sender = sender(shared("in-process"), 0, 0);
        sender.send(RingFixture.chunk(0, 7));
        sender.send(RingFixture.chunk(HALF, 8));
        sender.flush();
        Chunk overwritten = received(receivers.get(0), emitted.get(0));
        Chunk other = received(receivers.get(1), emitted.get(1));
        assertThat(overwritten.slot()).isNotNull();
        Memory.putLong(overwritten.columnStart(0), 9);
        other.release();
        assertThatIllegalStateException()
                .isThrownBy(overwritten::release)
                .withMessageContaining("Slot was overwritten while it was read: channel=");
    }
}
