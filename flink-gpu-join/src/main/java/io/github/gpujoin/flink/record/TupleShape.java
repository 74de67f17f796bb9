// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;

/** Tuples, whose fields are called f0, f1 and so on. */
final class TupleShape<T> extends RecordShape<T> {

    private final TupleTypeInfo<?> tuple;

    /**
     * @param type a {@link TupleTypeInfo}
     */
    TupleShape(TypeInformation<T> type) {
        super(type, List.of(((TupleTypeInfo<?>) (TypeInformation<?>) type).getFieldNames()));
        this.tuple = (TupleTypeInfo<?>) (TypeInformation<?>) type;
    }

    @Override
    TypeInformation<?> typeAt(int index, String name) {
        return tuple.getTypeAt(index);
    }

    @Override
    Getter<T> getterAt(int index, String name) {
        return record -> ((Tuple) record).getField(index);
    }
}
