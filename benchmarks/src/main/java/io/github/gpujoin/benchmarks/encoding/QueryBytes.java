// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.encoding;

import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.query.QueryResult;
import io.github.gpujoin.examples.query.QueryRunner;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;

/**
 * Bytes that the chunks of a query's job have on one of their ways, plain and encoded. The largest
 * dimension is partitioned, so that facts cross the network too.
 *
 * @param way channels, rings or log
 * @param plain bytes without encoding; for the log, what its chunks have with plain columns
 */
public record QueryBytes(String query, String way, long plain, long encoded) {

    public QueryBytes {
        if (plain == 0 || encoded == 0) {
            throw new IllegalStateException(
                    "No chunk took this way: query=%s, way=%s, plain=%d, encoded=%d"
                            .formatted(query, way, plain, encoded));
        }
    }

    /** Returns plain bytes divided by encoded bytes. */
    public double ratio() {
        return (double) plain / encoded;
    }

    private record Run(
            long channels, long rings, long log, long plainLog, List<List<String>> rows) {}

    /**
     * Runs a query over Flink's channels and over rings in shared memory, with plain and with
     * encoded columns each.
     *
     * @param directory folder with the tables of the query
     * @param subtasks of each operator
     * @throws IllegalStateException if the results differ, or a way was not used
     */
    public static List<QueryBytes> of(Query query, Path directory, int subtasks) throws Exception {
        Run plain = run(query, directory, subtasks, "flink", false);
        Run encoded = run(query, directory, subtasks, "flink", true);
        Run plainRings = run(query, directory, subtasks, "shm", false);
        Run encodedRings = run(query, directory, subtasks, "shm", true);
        for (Run other : List.of(encoded, plainRings, encodedRings)) {
            if (!other.rows.equals(plain.rows)) {
                throw new IllegalStateException("Results differ: query=" + query.label());
            }
        }
        return List.of(
                new QueryBytes(query.label(), "channels", plain.channels, encoded.channels),
                new QueryBytes(query.label(), "rings", plainRings.rings, encodedRings.rings),
                new QueryBytes(query.label(), "log", encoded.plainLog, encoded.log));
    }

    private static Run run(
            Query query, Path directory, int subtasks, String transport, boolean encodes)
            throws Exception {
        Configuration cluster = new Configuration();
        ByteMetrics.addTo(cluster);
        Configuration job = new Configuration();
        job.set(PipelineOptions.GENERIC_TYPES, false);
        job.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        job.set(GpuJoinOptions.REPLICATE_MAX_BYTES, MemorySize.ZERO);
        job.set(GpuJoinOptions.TRANSPORT, transport);
        job.set(GpuJoinOptions.ENCODE_NETWORK, encodes);
        ByteMetrics.clear();
        try (JobCluster embedded = JobCluster.open(subtasks, cluster)) {
            PrintWriter silent = new PrintWriter(Writer.nullWriter());
            QueryResult result = new QueryRunner(embedded.env(job), directory, silent).run(query);
            return new Run(
                    ByteMetrics.sum("numBytesOut") - ByteMetrics.sum("bytesThroughRings"),
                    ByteMetrics.sum("bytesThroughRings"),
                    ByteMetrics.sum("loggedBytes"),
                    ByteMetrics.sum("loggedPlainBytes"),
                    result.rows().stream().map(Arrays::asList).toList());
        }
    }
}
