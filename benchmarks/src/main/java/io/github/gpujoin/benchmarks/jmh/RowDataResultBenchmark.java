// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultColumns;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.MockOutput;
import org.apache.flink.streaming.util.MockStreamingRuntimeContext;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Results as RowData of seven fields, of which two are texts: made, and made and copied by two
 * operators behind the join. One batch is emitted repeatedly, as its rows would still be in the
 * cache.
 */
@State(Scope.Thread)
public class RowDataResultBenchmark {

    private static final RowType FACT =
            RowType.of(
                    new LogicalType[] {
                        new BigIntType(false),
                        new IntType(),
                        new DoubleType(),
                        VarCharType.STRING_TYPE
                    },
                    new String[] {"id", "number", "amount", "customer"});

    private static final RowType BUILD =
            RowType.of(
                    new LogicalType[] {
                        new BigIntType(false), VarCharType.STRING_TYPE, new DoubleType()
                    },
                    new String[] {"key", "segment", "discount"});

    private static final int ROWS = 512;

    /** Passes on rows without keeping them. */
    private static final class Rows extends MockOutput<RowData> {
        private Consumer<RowData> consumer = row -> {};

        Rows() {
            super(new ArrayList<>());
        }

        @Override
        public void collect(StreamRecord<RowData> element) {
            consumer.accept(element.getValue());
        }
    }

    private final Rows output = new Rows();
    private CpuJoinEngine engine;
    private ResultBatch batch;
    private ResultEmitter<RowData> emitter;
    private RowDataSerializer serializer;

    @Setup
    public void open() throws Exception {
        RecordLayout<RowData> facts = layout(FACT);
        RecordLayout<RowData> build = layout(BUILD);
        JoinSpec spec =
                new JoinSpec(
                        facts.schema(),
                        List.of(new DimensionSpec("build", build.schema(), 0, 0, JoinKind.INNER)));
        List<OutputField> fields = new ArrayList<>();
        for (String name : FACT.getFieldNames()) {
            fields.add(OutputField.ofFact(facts.schema().require(name), facts.field(name)));
        }
        for (String name : BUILD.getFieldNames()) {
            fields.add(OutputField.ofDimension(0, build.schema().require(name), build.field(name)));
        }
        List<RowType.RowField> all = new ArrayList<>(FACT.getFields());
        all.addAll(BUILD.getFields());
        RowType result = new RowType(all);
        serializer = new RowDataSerializer(result);
        emitter =
                ResultEmitters.records(
                                ResultColumns.of(spec, fields),
                                InternalTypeInfo.<RowData>of(result))
                        .create(new MockStreamingRuntimeContext(1, 0));
        engine = new CpuJoinEngine(spec);
        engine.submitBuild(0, pack(build, 0, RowDataResultBenchmark::build));
        engine.finishBuild();
        engine.submitProbe(pack(facts, ChunkDescriptor.FACTS, RowDataResultBenchmark::fact), 0);
        batch = engine.poll();
    }

    private static RecordLayout<RowData> layout(RowType type) {
        return RecordLayout.of(
                InternalTypeInfo.of(type),
                type.getFieldNames(),
                List.of(type.getFieldNames().get(0)),
                new SerializerConfigImpl());
    }

    private static RowData fact(int row) {
        return GenericRowData.of(
                (long) row,
                1000 + row,
                row / 8.0,
                StringData.fromString("Customer#00000" + (1000 + row)));
    }

    private static RowData build(int row) {
        return GenericRowData.of(
                (long) row, StringData.fromString(row % 2 == 0 ? "AUTOMOBILE" : "BUILDING"), 0.25);
    }

    private static Chunk pack(RecordLayout<RowData> layout, int side, IntFunction<RowData> rows)
            throws Exception {
        RecordEncoder<RowData> encoder = layout.encoder();
        ChunkBuilder builder = new ChunkBuilder(layout.schema(), 1 << 20);
        RecordEncoder.Target target = encoder.target(builder);
        for (int row = 0; row < ROWS; row++) {
            RowData record = rows.apply(row);
            if (encoder.accept(record)) {
                encoder.encode(record, Long.MIN_VALUE, target);
            }
        }
        return builder.seal(side, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    @Benchmark
    public void rowDataMade(Blackhole blackhole) throws Exception {
        output.consumer = blackhole::consume;
        emit();
    }

    @Benchmark
    public void rowDataMadeAndCopiedTwice(Blackhole blackhole) throws Exception {
        output.consumer = row -> blackhole.consume(serializer.copy(serializer.copy(row)));
        emit();
    }

    private void emit() throws Exception {
        for (int rows = 0; rows < WorkingSet.PROBE_ROWS; rows += batch.rowCount()) {
            emitter.emit(batch, 0, batch.rowCount(), output);
        }
    }

    @TearDown
    public void close() throws Exception {
        emitter.close();
        engine.close();
    }
}
