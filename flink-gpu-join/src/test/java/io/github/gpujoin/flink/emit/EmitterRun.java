// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.PlannedChunks;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.reference.ReferenceJoinEngine;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.MockOutput;
import org.apache.flink.streaming.util.MockStreamingRuntimeContext;
import org.assertj.core.api.recursive.comparison.RecursiveComparisonConfiguration;

/** Joins records with the reference engine and collects what an emitter makes of the results. */
final class EmitterRun {

    private static final RuntimeContext CONTEXT = new MockStreamingRuntimeContext(1, 0);

    /** Compares records field by field, floating point numbers without tolerance. */
    static final RecursiveComparisonConfiguration EXACTLY =
            RecursiveComparisonConfiguration.builder()
                    .withComparatorForType(Double::compare, Double.class)
                    .withComparatorForType(Float::compare, Float.class)
                    .build();

    /** Keeps whole elements, as the emitter reuses its own. */
    private static final class Elements<OUT> extends MockOutput<OUT> {
        private final List<StreamRecord<OUT>> elements = new ArrayList<>();

        Elements() {
            super(new ArrayList<>());
        }

        @Override
        public void collect(StreamRecord<OUT> element) {
            elements.add(element.copy(element.getValue()));
        }
    }

    private EmitterRun() {}

    /** Records as chunks; the n-th record has the timestamp n, every fifth has none. */
    static <T> List<Chunk> pack(RecordLayout<T> layout, List<T> records, int dimension)
            throws Exception {
        RecordEncoder<T> encoder = layout.encoder();
        ChunkBuilder builder = new ChunkBuilder(layout.schema(), 1000);
        RecordEncoder.Target target = encoder.target(builder);
        List<Chunk> chunks = new ArrayList<>();
        for (int i = 0; i < records.size(); i++) {
            if (encoder.accept(records.get(i))) {
                long timestamp = i % 5 == 0 ? Long.MIN_VALUE : i;
                encoder.encode(records.get(i), timestamp, target);
            }
            if (builder.isFull()) {
                chunks.add(builder.seal(dimension, -1, 0, chunks.size()));
            }
        }
        chunks.add(builder.seal(dimension, -1, 0, chunks.size()));
        return chunks;
    }

    /**
     * All elements emitted; batches are emitted in random parts. Some facts are encoded.
     *
     * @param builds chunks of each dimension
     */
    static <OUT> List<StreamRecord<OUT>> join(
            JoinSpec spec,
            List<List<Chunk>> builds,
            List<Chunk> facts,
            ResultEmitterFactory<OUT> factory,
            Random random)
            throws Exception {
        Elements<OUT> output = new Elements<>();
        try (JoinEngine engine = engine(spec, builds);
                ResultEmitter<OUT> emitter = factory.create(CONTEXT)) {
            for (Chunk chunk : facts) {
                engine.submitProbe(random.nextBoolean() ? chunk : encoded(chunk), 0);
                ResultBatch batch;
                while ((batch = engine.poll()) != null) {
                    emitInParts(emitter, batch, 0, batch.rowCount(), output, random);
                    emitter.completed(batch.completedRows(), output);
                }
                if (random.nextInt(3) == 0) {
                    emitter.flush(output);
                }
            }
            emitter.flush(output);
        }
        return output.elements;
    }

    private static Chunk encoded(Chunk chunk) {
        return ChunkDecoder.open(chunk.schema(), PlannedChunks.encode(chunk).clone());
    }

    private static JoinEngine engine(JoinSpec spec, List<List<Chunk>> builds) throws Exception {
        JoinEngine engine = new ReferenceJoinEngine(spec);
        for (int d = 0; d < builds.size(); d++) {
            for (Chunk chunk : builds.get(d)) {
                engine.submitBuild(d, chunk);
            }
        }
        engine.finishBuild();
        return engine;
    }

    /**
     * As {@link #join}, where facts pass over a dimension chunk by chunk, as over one that is
     * larger than memory: no fact is complete before the last one. Where the engine left-joins the
     * dimension, each fact that has a candidate has one in every chunk.
     *
     * @param sliced the dimension
     */
    static <OUT> List<StreamRecord<OUT>> joinInSlices(
            JoinSpec spec,
            List<List<Chunk>> builds,
            int sliced,
            List<Chunk> facts,
            ResultEmitterFactory<OUT> factory,
            Random random)
            throws Exception {
        Elements<OUT> output = new Elements<>();
        List<Chunk> slices = builds.get(sliced);
        try (ResultEmitter<OUT> emitter = factory.create(CONTEXT)) {
            for (Chunk chunk : facts) {
                for (Chunk slice : slices) {
                    List<List<Chunk>> some = new ArrayList<>(builds);
                    some.set(sliced, List.of(slice));
                    boolean last = slice == slices.get(slices.size() - 1);
                    try (JoinEngine engine = engine(spec, some)) {
                        engine.submitProbe(chunk, 0);
                        ResultBatch batch;
                        while ((batch = engine.poll()) != null) {
                            boolean complete = last && batch.isLast();
                            batch.set(chunk, batch.rowCount(), complete ? chunk.rowCount() : 0);
                            emitSlice(emitter, batch, sliced, last, output, random);
                            emitter.completed(batch.completedRows(), output);
                        }
                    }
                }
            }
            emitter.flush(output);
        }
        return output.elements;
    }

    /** That a fact has no match at all is known with the last slice. */
    private static <OUT> void emitSlice(
            ResultEmitter<OUT> emitter,
            ResultBatch batch,
            int sliced,
            boolean last,
            Output<StreamRecord<OUT>> output,
            Random random)
            throws Exception {
        int row = 0;
        while (row < batch.rowCount()) {
            int from = row;
            while (row < batch.rowCount() && (last || batch.isMatched(sliced, row))) {
                row++;
            }
            emitInParts(emitter, batch, from, row, output, random);
            row++;
        }
    }

    private static <OUT> void emitInParts(
            ResultEmitter<OUT> emitter,
            ResultBatch batch,
            int fromRow,
            int toRow,
            Output<StreamRecord<OUT>> output,
            Random random)
            throws Exception {
        int row = fromRow;
        while (row < toRow) {
            int next = row + 1 + random.nextInt(toRow - row);
            emitter.emit(batch, row, next, output);
            row = next;
        }
    }

    static <OUT> List<OUT> values(List<StreamRecord<OUT>> elements) {
        return elements.stream().map(StreamRecord::getValue).toList();
    }
}
