package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.pack.RecordField;
import io.github.gpujoin.flink.pack.RecordLayout;
import java.util.ArrayList;
import java.util.List;

/** Makes records of the rows of result batches. Not thread-safe. */
interface RecordAssembler<T> {

    /** To be called before rows of another batch are asked for. */
    void bind(ResultBatch batch);

    /**
     * A new record.
     *
     * @param row in the batch
     * @param probeRow of that row in the batch's chunk
     */
    T assemble(int row, int probeRow) throws Exception;

    /** Makes the whole records of a side again. */
    static <T> RecordAssembler<T> whole(JoinSpec spec, int side, RecordLayout<T> layout) {
        List<OutputField> fields = new ArrayList<>();
        for (int column = 0; column < layout.fields().size(); column++) {
            RecordField field = layout.fields().get(column);
            OutputField output = new OutputField(field.name(), side, column, field);
            if (field.name().equals(RecordLayout.RECORD)) {
                return new SerializedAssembler<>(new FieldReader(spec, output));
            }
            if (!RecordLayout.isReserved(field.name())) {
                fields.add(output);
            }
        }
        return new PojoAssembler<>(spec, fields, layout.type());
    }
}
