// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka;

import io.github.gpujoin.core.layout.Chunk;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.lineage.LineageVertex;
import org.apache.flink.streaming.api.lineage.LineageVertexProvider;

/**
 * Flink's Kafka source with a {@link ChunkReader} around its reader. Its state is that of Flink's
 * source.
 */
final class KafkaChunkSource
        implements Source<Chunk, KafkaPartitionSplit, KafkaSourceEnumState>,
                ResultTypeQueryable<Chunk>,
                LineageVertexProvider {

    private static final long serialVersionUID = 1L;

    private final KafkaSource<Chunk> kafka;

    /** The deserializer within {@link #kafka}; each task deserializes one copy of both. */
    private final ChunkRecords records;

    KafkaChunkSource(KafkaSource<Chunk> kafka, ChunkRecords records) {
        this.kafka = kafka;
        this.records = records;
    }

    @Override
    public SourceReader<Chunk, KafkaPartitionSplit> createReader(SourceReaderContext context)
            throws Exception {
        return new ChunkReader(
                kafka.createReader(context),
                records,
                context.metricGroup().getIOMetricGroup().getNumRecordsOutCounter());
    }

    @Override
    public Boundedness getBoundedness() {
        return kafka.getBoundedness();
    }

    @Override
    public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> createEnumerator(
            SplitEnumeratorContext<KafkaPartitionSplit> context) {
        return kafka.createEnumerator(context);
    }

    @Override
    public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restoreEnumerator(
            SplitEnumeratorContext<KafkaPartitionSplit> context, KafkaSourceEnumState checkpoint)
            throws IOException {
        return kafka.restoreEnumerator(context, checkpoint);
    }

    @Override
    public SimpleVersionedSerializer<KafkaPartitionSplit> getSplitSerializer() {
        return kafka.getSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<KafkaSourceEnumState> getEnumeratorCheckpointSerializer() {
        return kafka.getEnumeratorCheckpointSerializer();
    }

    @Override
    public TypeInformation<Chunk> getProducedType() {
        return kafka.getProducedType();
    }

    @Override
    public LineageVertex getLineageVertex() {
        return kafka.getLineageVertex();
    }
}
