// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.RingSharing;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
class InPlaceFactsITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final long FACTS = 300_000;

    @ParameterizedTest
    @ValueSource(strings = {"shm", "in-process"})
    void shouldReadFactsInPlaceInRings(String transport) throws Exception {
        Configuration options = new Configuration();
        // Fewer than the engine has chunks in flight.
        options.set(GpuJoinOptions.RING_SLOTS, 4);
        InPlaceFactsJob job = InPlaceFactsJob.run(METRICS, transport, true, FACTS, options);
        assertThat(job.sum("payloadBytesCopied")).isZero();
        assertThat(job.count("chunksThroughRings")).isPositive();
        assertThat(job.sum("ringBytes")).isPositive();
        assertThat(job.sum("heldSlots")).isZero();
    }

    /** The subtask whose share has no bytes of rings shares those of the other. */
    @Test
    void shouldReadFactsInPlaceInSharedRings() throws Exception {
        Configuration options = new Configuration();
        options.set(GpuJoinOptions.RING_SHARING, RingSharing.TASK_MANAGER);
        // Full chunks, of which a slot holds three: smaller parts would be copied.
        options.set(GpuJoinOptions.CHUNK_BYTES, MemorySize.parse("4kb"));
        options.set(GpuJoinOptions.FLUSH_INTERVAL, Duration.ofSeconds(10));
        InPlaceFactsJob job = InPlaceFactsJob.run(METRICS, "shm", true, FACTS, options);
        assertThat(job.sum("payloadBytesCopied"))
                .as("copied while the other subtask reads in half of the slots")
                .isLessThan(job.count("bytesThroughRings") / 2);
        assertThat(job.count("chunksThroughRings")).isPositive();
        assertThat(job.values("ringBytes")).containsOnlyOnce(0L);
        assertThat(job.sum("heldSlots")).isZero();
        assertThat(job.values("sharedRings")).containsOnly(1L);
    }

    @Test
    void shouldReadFactsInPlaceInSlotsOfTheProcess() throws Exception {
        InPlaceFactsJob job =
                InPlaceFactsJob.run(METRICS, "flink", false, FACTS, new Configuration());
        assertThat(job.sum("payloadBytesCopied")).isZero();
        assertThat(job.count("chunksExchangedLocally")).isPositive();
        assertThat(job.sum("exchangeBytes")).isPositive();
    }
}
