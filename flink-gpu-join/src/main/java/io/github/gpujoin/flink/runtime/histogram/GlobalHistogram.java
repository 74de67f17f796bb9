// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.flink.api.explain.PartitionSummary;
import io.github.gpujoin.flink.metrics.BuildCounts;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;

/**
 * The sums of all subtasks, as a subtask needs them. A subtask knows the rows of its own
 * partitions, so that it needs those of others in sum only.
 *
 * @param job build rows and bytes of all subtasks
 * @param process build rows and bytes of the subtasks in the process of the receiver
 * @param partitions distribution of the rows of the job over partitions
 */
public record GlobalHistogram(Sum job, Sum process, PartitionSummary partitions)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /**
     * Sum of several reports.
     *
     * @param subtasks number of the reports
     */
    public record Sum(int subtasks, long rows, long bytes) implements Serializable {

        private static final long serialVersionUID = 1L;

        static Sum of(Collection<HistogramReport> reports) {
            Sum sum = new Sum(0, 0, 0);
            for (HistogramReport report : reports) {
                long rows = 0;
                for (long ofPartition : report.rows()) {
                    rows += ofPartition;
                }
                sum = new Sum(sum.subtasks + 1, sum.rows + rows, sum.bytes + report.bytes());
            }
            return sum;
        }
    }

    /**
     * Adds the reports of all subtasks.
     *
     * @return the answer to the subtasks of each process
     */
    static Map<String, GlobalHistogram> byProcess(Collection<HistogramReport> reports) {
        int end = reports.stream().mapToInt(HistogramReport::endPartition).max().orElse(1);
        Histogram histogram = new Histogram(end);
        reports.forEach(report -> report.addTo(histogram));
        Sum job = Sum.of(reports);
        PartitionSummary partitions = BuildCounts.summary(histogram);
        Map<String, GlobalHistogram> answers = new TreeMap<>();
        reports.stream()
                .collect(Collectors.groupingBy(HistogramReport::process))
                .forEach(
                        (process, ofProcess) ->
                                answers.put(
                                        process,
                                        new GlobalHistogram(job, Sum.of(ofProcess), partitions)));
        return answers;
    }

    /**
     * Encodes an answer in a class of Flink, since its RPC cannot load classes of a job's jar.
     *
     * @param answer null if not all subtasks have reported
     */
    static CoordinationResponse toResponse(@Nullable GlobalHistogram answer) {
        if (answer == null) {
            return new CollectCoordinationResponse("", 0, List.of());
        }
        try {
            byte[] bytes = InstantiationUtil.serializeObject(answer);
            DataOutputSerializer out = new DataOutputSerializer(bytes.length + Integer.BYTES);
            BytePrimitiveArraySerializer.INSTANCE.serialize(bytes, out);
            return new CollectCoordinationResponse("", 0, List.of(out.getCopyOfBuffer()));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot serialize a global histogram.", e);
        }
    }

    /** Decodes an answer; null if not all subtasks have reported. */
    static @Nullable GlobalHistogram of(CoordinationResponse response) {
        try {
            List<byte[]> answers =
                    ((CollectCoordinationResponse) response)
                            .getResults(BytePrimitiveArraySerializer.INSTANCE);
            return answers.isEmpty()
                    ? null
                    : InstantiationUtil.deserializeObject(
                            answers.get(0), GlobalHistogram.class.getClassLoader());
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("Response is no global histogram: " + response, e);
        }
    }
}
