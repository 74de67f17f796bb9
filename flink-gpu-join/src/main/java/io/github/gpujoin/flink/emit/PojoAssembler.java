// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordKind;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoField;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;

/** Makes POJOs, each field of which is set from the result column of its name. */
final class PojoAssembler<T> implements RecordAssembler<T> {

    private final RecordFactory<T> factory;
    private final FieldReader[] readers;
    private final FieldWriter[] writers;

    /** One reader for each dimension whose variable-width values are read. */
    private final List<FieldReader> loading;

    PojoAssembler(JoinSpec spec, List<OutputField> fields, TypeInformation<T> type) {
        this(FieldReader::new, spec, fields, type);
    }

    PojoAssembler(
            BiFunction<JoinSpec, OutputField, FieldReader> reader,
            JoinSpec spec,
            List<OutputField> fields,
            TypeInformation<T> type) {
        check(type, fields);
        PojoTypeInfo<T> pojo = (PojoTypeInfo<T>) type;
        this.readers = new FieldReader[fields.size()];
        this.writers = new FieldWriter[fields.size()];
        this.factory = RecordFactory.of(type.getTypeClass());
        for (int i = 0; i < readers.length; i++) {
            OutputField field = fields.get(i);
            readers[i] = reader.apply(spec, field);
            PojoField target = pojo.getPojoFieldAt(pojo.getFieldIndex(field.name()));
            writers[i] =
                    factory.writer(target.getField(), FieldKind.of(target.getTypeInformation()));
        }
        this.loading = FieldReader.loading(readers);
    }

    /**
     * @throws IllegalArgumentException where the type is no POJO, or a field of the result has no
     *     field of its name and type there
     */
    static void check(TypeInformation<?> type, List<OutputField> fields) {
        if (RecordKind.of(type) != RecordKind.POJO) {
            throw new IllegalArgumentException(
                    "The class is not a POJO by Flink's rules (public, with a public constructor"
                            + " without arguments, fields public or with getter and setter): type="
                            + type);
        }
        ResultColumns.requireFields(type, fields);
    }

    /**
     * @throws IllegalArgumentException where facts without a match have no value for a primitive
     *     field
     */
    static void checkNulls(TypeInformation<?> type, ResultColumns columns) {
        PojoTypeInfo<?> pojo = (PojoTypeInfo<?>) type;
        for (OutputField field : columns.fields()) {
            PojoField target = pojo.getPojoFieldAt(pojo.getFieldIndex(field.name()));
            if (target.getField().getType().isPrimitive()
                    && ColumnSource.of(columns.spec(), field).mayBeAbsent()) {
                throw new IllegalArgumentException(
                        "Primitive field for a column that is null in facts without a match. Use"
                                + " a class, for example Integer for int: column="
                                + field.name()
                                + ", field="
                                + target.getField());
            }
        }
    }

    @Override
    public void bind(ResultBatch batch) {
        for (FieldReader reader : readers) {
            reader.bind(batch);
        }
    }

    @Override
    public void load(int fromRow, int toRow) {
        for (FieldReader reader : loading) {
            reader.load(fromRow, toRow);
        }
    }

    /** Field by field, so that all values of a field are read and set in one loop. */
    @Override
    public void assemble(int fromRow, int toRow, long probeRows, Object[] into) throws Exception {
        load(fromRow, toRow);
        for (int i = 0; i < into.length; i++) {
            into[i] = factory.begin();
        }
        for (int field = 0; field < readers.length; field++) {
            FieldReader reader = readers[field];
            FieldWriter writer = writers[field];
            if (writer.copiesBits() && reader.isRaw()) {
                writer.copyBits(into, reader, fromRow, probeRows);
                continue;
            }
            for (int i = 0; i < into.length; i++) {
                int row = fromRow + i;
                writer.set(into[i], reader.value(row, Memory.getInt(probeRows + 4L * row)));
            }
        }
        for (int i = 0; i < into.length; i++) {
            into[i] = factory.finish(into[i]);
        }
    }

    @Override
    public T assemble(int row, int probeRow) throws Exception {
        Object instance = factory.begin();
        for (int i = 0; i < readers.length; i++) {
            FieldReader reader = readers[i];
            FieldWriter writer = writers[i];
            if (writer.copiesBits() && reader.isRaw()) {
                writer.copyBits(instance, reader.base(), reader.locate(row, probeRow));
            } else {
                writer.set(instance, reader.value(row, probeRow));
            }
        }
        return factory.finish(instance);
    }
}
