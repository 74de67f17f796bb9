// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.record.RecordField;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/**
 * A field of a result and the column of a side that it comes from.
 *
 * @param name in the result
 * @param side number of a dimension, or {@link ChunkDescriptor#FACTS}
 * @param column in the side's schema
 * @param field what stood in the column, to be restored
 * @param nullKeyBits bits of the join's null keys column of which each says that the value is null;
 *     0 for all but keys of facts that are kept when they are null
 */
public record OutputField(String name, int side, int column, RecordField field, int nullKeyBits)
        implements Serializable {

    /** A field that is null only where its column says so. */
    public OutputField(String name, int side, int column, RecordField field) {
        this(name, side, column, field, 0);
    }

    /** A fact column, under its own name. */
    public static OutputField ofFact(int column, RecordField field) {
        return new OutputField(field.name(), ChunkDescriptor.FACTS, column, field);
    }

    /** A column of a dimension, under its own name. */
    public static OutputField ofDimension(int dimension, int column, RecordField field) {
        return new OutputField(field.name(), dimension, column, field);
    }

    /** Type of the field in a result Row. */
    public TypeInformation<?> type() {
        return field.type();
    }
}
