// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Connects both ends of rings, with a queue in place of Flink's channel, and closes them. */
@ExtendWith(RegionLeakExtension.class)
abstract class OpenRings {

    static final Configuration NO_CONFIG = new Configuration();

    final JobID job = new JobID();
    final List<AutoCloseable> opened = new ArrayList<>();
    final List<ReaderAddress> addresses = new ArrayList<>();

    /** Attempts of the subtasks from which {@link #receiver} receives. */
    List<ExecutionAttemptID> writers = RingFixture.writers(2);

    /** What the last call of {@link #send} emitted. */
    final List<Chunk> emitted = new ArrayList<>();

    /** Bytes of the last emitted chunk in its slot. */
    int slotBytes;

    private long threadsBefore;

    @BeforeEach
    void count() {
        InProcessProvider.reset(SimulatedFaults.NONE, 1);
        threadsBefore = threads();
    }

    @AfterEach
    void shouldReleaseAllResources() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
            opened.get(i).close();
        }
        await(() -> threads() <= threadsBefore);
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("gpu-join"))
                .count();
    }

    static void await(BooleanSupplier condition) {
        long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - startNs).isLessThan(RingFixture.TIMEOUT_NS);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Opens a subtask of the join to which two subtasks send facts. */
    RingReceiver receiver(String transport, int subtask) throws IOException {
        return receiver(RingFixture.options(transport), subtask);
    }

    RingReceiver receiver(RingOptions options, int subtask) throws IOException {
        return receiver(options, RingFixture.task(job, subtask, 0, NO_CONFIG));
    }

    RingReceiver receiver(RingOptions options, RingTask task) throws IOException {
        RingReceiver receiver =
                RingReceiver.open(
                        options,
                        Map.of(JoinSide.PROBE, writers),
                        task,
                        event -> addresses.add((ReaderAddress) event),
                        RingFixture.UNLIMITED);
        opened.add(receiver);
        return receiver;
    }

    RingSender sender(String transport, int subtask, int attempt) throws IOException {
        return sender(RingFixture.options(transport), subtask, attempt);
    }

    RingSender sender(RingOptions options, int subtask, int attempt) throws IOException {
        RingSender sender =
                new RingSender(
                        options,
                        JoinSide.PROBE,
                        RingFixture.task(job, subtask, attempt, NO_CONFIG),
                        RingFixture.coordinator(() -> targetsOf(attempt)),
                        (chunk, sent, bytes) -> {
                            emitted.add(sent);
                            slotBytes = bytes;
                        });
        opened.add(sender);
        await(() -> areAllOpen(sender));
        return sender;
    }

    static boolean areAllOpen(RingSender sender) {
        try {
            return sender.areAllOpen();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a chunk by itself, and returns its ticket, or the chunk. */
    Chunk send(RingSender sender, Chunk chunk) throws IOException {
        emitted.clear();
        sender.send(chunk);
        sender.flush();
        assertThat(emitted).hasSize(1);
        return emitted.get(0);
    }

    List<Target> targetsOf(int attempt) {
        return addresses.stream()
                .map(address -> RingFixture.target(address, job, attempt))
                .toList();
    }
}
