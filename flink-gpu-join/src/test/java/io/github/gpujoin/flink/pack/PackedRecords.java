// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.record.RecordLayout;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** Packs all records of a bounded stream of facts. */
final class PackedRecords {

    private PackedRecords() {}

    /**
     * Returns the chunks of records.
     *
     * @param partitions 0 if the facts are not partitioned
     * @param reuse whether Flink reuses objects
     * @param records in their order; one may be changed by the next
     */
    static <T> List<Chunk> pack(
            RecordLayout<T> layout,
            int chunkBytes,
            int partitions,
            boolean reuse,
            Stream<StreamRecord<T>> records)
            throws Exception {
        PackSpec packing =
                PackSpec.unpartitioned(
                        "orders", ChunkDescriptor.FACTS, chunkBytes, Duration.ofMillis(100));
        if (partitions > 0) {
            packing = packing.partitionedBy(0, partitions);
        }
        var harness =
                new OneInputStreamOperatorTestHarness<T, Chunk>(
                        new PackOperator<>(layout, null, packing));
        try (harness) {
            if (reuse) {
                harness.getExecutionConfig().enableObjectReuse();
            }
            harness.setup(ChunkTypeInfo.of(layout.schema()).createSerializer(null));
            harness.open();
            for (StreamRecord<T> record : (Iterable<StreamRecord<T>>) records::iterator) {
                harness.processElement(record);
            }
            harness.endInput();
            return harness.extractOutputValues();
        }
    }
}
