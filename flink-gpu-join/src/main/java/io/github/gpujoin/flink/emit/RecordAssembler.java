// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordKind;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.JoinFunction;

/** Makes records of the rows of result batches. Not thread-safe. */
interface RecordAssembler<T> {

    /** To be called before rows of another batch are asked for. */
    void bind(ResultBatch batch);

    /**
     * Loads values of some rows of the batch ahead of {@link #assemble}, see {@link FieldReader}.
     */
    default void load(int fromRow, int toRow) {}

    /** Whether {@link #assemble} returns one object, which the next call changes. */
    default boolean reusesRecord() {
        return false;
    }

    /**
     * A new record, unless {@link #reusesRecord}.
     *
     * @param row in the batch
     * @param probeRow of that row in the batch's chunk
     */
    T assemble(int row, int probeRow) throws Exception;

    /**
     * Makes new records of some rows of the batch, of an assembler that reuses none.
     *
     * @param probeRows address of the batch's probe row numbers
     * @param into receives the record of row {@code fromRow + i} at i
     */
    default void assemble(int fromRow, int toRow, long probeRows, Object[] into) throws Exception {
        load(fromRow, toRow);
        for (int row = fromRow; row < toRow; row++) {
            into[row - fromRow] = assemble(row, Memory.getInt(probeRows + 4L * row));
        }
    }

    /** Makes the records of the one build side for a function, null where a row has none. */
    static <T> RecordAssembler<T> ofBuild(
            JoinSpec spec, RecordLayout<T> layout, JoinFunction<?, ?, ?> function) {
        return switch (spec.dimensions().get(0).kind()) {
            case INNER -> of(spec, 0, layout, function);
            case LEFT -> new MatchedAssembler<>(of(spec, 0, layout, function));
            case SEMI, ANTI -> new NullAssembler<>();
        };
    }

    /** Makes the records of a side for a function, for rows that have one. */
    static <T> RecordAssembler<T> of(
            JoinSpec spec, int side, RecordLayout<T> layout, JoinFunction<?, ?, ?> function) {
        int column = layout.schema().indexOf(RecordLayout.RECORD);
        if (!(function instanceof RecordReader)
                || column < 0
                || RecordKind.of(layout.type()) != RecordKind.ROW_DATA) {
            return whole(spec, side, layout);
        }
        OutputField record =
                new OutputField(RecordLayout.RECORD, side, column, layout.fields().get(column));
        return new RowViewAssembler<>(FieldReader.ofMatches(spec, record), layout.type());
    }

    /** Makes the whole records of a side again, for rows that have one. */
    static <T> RecordAssembler<T> whole(JoinSpec spec, int side, RecordLayout<T> layout) {
        List<OutputField> fields = new ArrayList<>();
        for (int column = 0; column < layout.fields().size(); column++) {
            RecordField field = layout.fields().get(column);
            OutputField output = new OutputField(field.name(), side, column, field);
            if (field.name().equals(RecordLayout.RECORD)) {
                return new SerializedAssembler<>(FieldReader.ofMatches(spec, output));
            }
            if (!RecordLayout.isReserved(field.name())) {
                fields.add(output);
            }
        }
        return new PojoAssembler<>(FieldReader::ofMatches, spec, fields, layout.type());
    }
}
