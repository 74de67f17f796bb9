// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import io.github.gpujoin.benchmarks.workload.ProbeRow;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.pack.ChunkPackOperator;
import io.github.gpujoin.flink.pack.ChunkProjection;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Packers as operators, from their input to sealed chunks. A few POJOs are packed repeatedly,
 * because a source in the packer's chain also emits records that are still in the cache.
 */
@State(Scope.Thread)
public class PackerBenchmark {

    private static final List<String> COLUMNS =
            List.of(TupleSchemas.PROBE_KEY, TupleSchemas.PROBE_PAYLOAD);
    private static final List<String> KEYS = List.of(TupleSchemas.PROBE_KEY);

    private final Tuples tuples = WorkingSet.tuples();
    private final ProbeRow[] rows = new ProbeRow[Tuples.CHUNK_ROWS];
    private OneInputStreamOperatorTestHarness<ProbeRow, Chunk> pojo;
    private OneInputStreamOperatorTestHarness<ProbeRow, Chunk> pojoPartitioned;
    private OneInputStreamOperatorTestHarness<Chunk, Chunk> columnarPartitioned;

    @Setup
    public void open() throws Exception {
        Chunk first = tuples.probe().get(0);
        for (int row = 0; row < rows.length; row++) {
            rows[row] =
                    new ProbeRow(
                            first.getLong(TupleSchemas.KEY, row),
                            first.getLong(TupleSchemas.PAYLOAD, row));
        }
        RecordLayout<ProbeRow> layout =
                RecordLayout.of(
                        TypeInformation.of(ProbeRow.class),
                        COLUMNS,
                        KEYS,
                        new SerializerConfigImpl());
        ChunkProjection projection = ChunkProjection.of(TupleSchemas.PROBE, COLUMNS, KEYS);
        PackSpec whole =
                PackSpec.unpartitioned(
                        "facts",
                        ChunkDescriptor.FACTS,
                        (int) GpuJoinOptions.CHUNK_BYTES.defaultValue().getBytes(),
                        PackSpec.DEFAULT_FLUSH_INTERVAL);
        PackSpec parts = whole.partitionedBy(TupleSchemas.KEY, WorkingSet.PARTITIONS);
        pojo = harness(new PackOperator<>(layout, null, whole), layout.schema());
        pojoPartitioned = harness(new PackOperator<>(layout, null, parts), layout.schema());
        columnarPartitioned =
                harness(new ChunkPackOperator(projection, null, parts), projection.schema());
    }

    private static <T> OneInputStreamOperatorTestHarness<T, Chunk> harness(
            OneInputStreamOperator<T, Chunk> packer, ChunkSchema schema) throws Exception {
        OneInputStreamOperatorTestHarness<T, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(packer);
        harness.setup(ChunkTypeInfo.of(schema).createSerializer(null));
        harness.open();
        return harness;
    }

    @Benchmark
    public void packPojos() throws Exception {
        packRows(pojo);
    }

    @Benchmark
    public void packPojosPartitioned() throws Exception {
        packRows(pojoPartitioned);
    }

    private void packRows(OneInputStreamOperatorTestHarness<ProbeRow, Chunk> harness)
            throws Exception {
        OneInputStreamOperator<ProbeRow, Chunk> packer = harness.getOneInputOperator();
        StreamRecord<ProbeRow> element = new StreamRecord<>(null);
        for (int pass = 0; pass < WorkingSet.PROBE_ROWS / rows.length; pass++) {
            for (ProbeRow row : rows) {
                packer.processElement(element.replace(row));
            }
            harness.getOutput().clear();
        }
    }

    @Benchmark
    public void packColumnsPartitioned() throws Exception {
        OneInputStreamOperator<Chunk, Chunk> packer = columnarPartitioned.getOneInputOperator();
        StreamRecord<Chunk> element = new StreamRecord<>(null);
        for (Chunk chunk : tuples.probe()) {
            packer.processElement(element.replace(chunk));
            columnarPartitioned.getOutput().clear();
        }
    }

    @TearDown
    public void close() throws Exception {
        pojo.close();
        pojoPartitioned.close();
        columnarPartitioned.close();
    }
}
