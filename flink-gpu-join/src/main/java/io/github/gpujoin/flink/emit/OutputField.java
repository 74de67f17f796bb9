package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.pack.RecordField;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/**
 * A field of a result and the column of a side that it comes from.
 *
 * @param name in the result
 * @param side number of a dimension, or {@link ChunkDescriptor#FACTS}
 * @param column in the side's schema
 * @param field what stood in the column, to be restored
 */
public record OutputField(String name, int side, int column, RecordField field)
        implements Serializable {

    /** A fact column, under its own name. */
    public static OutputField ofFact(int column, RecordField field) {
        return new OutputField(field.name(), ChunkDescriptor.FACTS, column, field);
    }

    /** A column of a dimension, under its own name. */
    public static OutputField ofDimension(int dimension, int column, RecordField field) {
        return new OutputField(field.name(), dimension, column, field);
    }

    /** The field as a column of result chunks. */
    public Column asColumn() {
        return new Column(name, field.kind().columnType(), field.nullable());
    }

    /** Type of the field in a result Row. */
    public TypeInformation<?> type() {
        return field.type();
    }
}
