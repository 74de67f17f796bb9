// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.exchange.ring.WriterAddresses.Target;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.JobInfoImpl;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Connects both ends of rings, with a queue in place of Flink's channel, and closes them. */
@ExtendWith(RegionLeakExtension.class)
abstract class OpenRings {

    static final Configuration NO_CONFIG = new Configuration();

    final JobInfo job = new JobInfoImpl(new JobID(), "job");
    final List<AutoCloseable> opened = new ArrayList<>();
    final List<Target> targets = new ArrayList<>();
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

    static TaskInfo task(int subtask, int attempt) {
        return new TaskInfoImpl("task", RingFixture.PARTITIONS, subtask, 2, attempt);
    }

    /** Opens a subtask of the join to which two subtasks send facts. */
    RingReceiver receiver(String transport, int subtask) throws IOException {
        RingReceiver receiver =
                RingReceiver.open(
                        RingFixture.options(transport),
                        Map.of(JoinSide.PROBE, 2),
                        job,
                        task(subtask, 0),
                        NO_CONFIG,
                        event -> {
                            ReaderAddress address = (ReaderAddress) event;
                            targets.add(
                                    new Target(address.host(), address.port(), address.secret()));
                        });
        opened.add(receiver);
        return receiver;
    }

    RingSender sender(String transport, int subtask, int attempt) throws IOException {
        RingSender sender =
                new RingSender(
                        RingFixture.options(transport),
                        JoinSide.PROBE,
                        job,
                        task(subtask, attempt),
                        NO_CONFIG,
                        RingFixture.coordinator(() -> targetsOf(attempt)));
        opened.add(sender);
        await(() -> sender.openRings() == targets.size());
        return sender;
    }

    private List<Target> targetsOf(int attempt) {
        return targets.stream()
                .map(
                        target ->
                                new Target(
                                        target.host(),
                                        target.port(),
                                        new JobSecret(target.token())
                                                .token(Rendezvous.uuid(job.getJobId()), attempt)
                                                .bytes()))
                .toList();
    }
}
