// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import org.apache.flink.configuration.Configuration;
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

    @Test
    void shouldReadFactsInPlaceInSlotsOfTheProcess() throws Exception {
        InPlaceFactsJob job =
                InPlaceFactsJob.run(METRICS, "flink", false, FACTS, new Configuration());
        assertThat(job.sum("payloadBytesCopied")).isZero();
        assertThat(job.count("chunksExchangedLocally")).isPositive();
        assertThat(job.sum("exchangeBytes")).isPositive();
    }
}
