// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.testutils.InMemoryReporter;

/**
 * Runs a job whose CPU engine reads facts in the rings where the network wrote them;
 * bin/verify-rdma runs it. Prints a line "ok: ..." if the answer is exact and the CPU copied no
 * payload, and ends with an exception otherwise.
 *
 * <pre>
 *   InPlaceFactsCheck TRANSPORT OPTION=VALUE...
 * </pre>
 */
final class InPlaceFactsCheck {

    private static final long FACTS = 20_000;

    private InPlaceFactsCheck() {}

    public static void main(String[] args) throws Exception {
        InMemoryReporter metrics = InMemoryReporter.createWithRetainedMetrics();
        Configuration options = metrics.addToConfiguration(new Configuration());
        // An emulated machine is slow.
        options.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, Duration.ofMinutes(5));
        options.set(GpuJoinOptions.CHUNK_BYTES, MemorySize.parse("16kb"));
        for (int i = 1; i < args.length; i++) {
            String[] option = args[i].split("=", 2);
            options.setString(option[0], option[1]);
        }
        InPlaceFactsJob job = InPlaceFactsJob.run(metrics, args[0], true, FACTS, options);
        long chunks = job.count("chunksThroughRings");
        long copiedBytes = job.sum("payloadBytesCopied");
        if (copiedBytes != 0 || chunks == 0) {
            throw new IllegalStateException(
                    "Facts were not read in place: payloadBytesCopied=%d, chunksThroughRings=%d"
                            .formatted(copiedBytes, chunks));
        }
        System.out.printf(
                "ok: a job over %s reads its facts in the rings, rows=%d, chunks through rings=%d, payload bytes copied=0%n",
                args[0], FACTS, chunks);
        // Threads of the embedded cluster end only with the process.
        System.exit(0);
    }
}
