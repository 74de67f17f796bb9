// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.record.DelegatingSerializer;
import io.github.gpujoin.flink.record.RecordKind;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;

/**
 * The type of records that an operator reads before it returns, and neither changes nor keeps.
 * Flink copies each record between chained operators, unless objects are reused. For such an
 * operator, the copy has no use. Everything else is as in the type of the records.
 */
public class UncopiedType<T> extends TypeInformation<T> {

    private static final long serialVersionUID = 1L;

    private final TypeInformation<T> type;

    UncopiedType(TypeInformation<T> type) {
        this.type = type;
    }

    /**
     * Returns the same stream for one operator that neither changes nor keeps its records. Other
     * operators behind the given stream still receive copies.
     */
    public static <T> DataStream<T> stream(DataStream<T> stream) {
        return stream(stream, of(stream.getType()));
    }

    /** Returns the same stream with another type of the same records. */
    public static <T> DataStream<T> stream(DataStream<T> stream, TypeInformation<T> type) {
        // No vertex of the job, but a type of its own. Flink chooses the edge's partitioner, as if
        // the operator were behind the stream itself.
        PartitionTransformation<T> edge =
                new PartitionTransformation<>(stream.getTransformation(), null);
        return new OperatorStream<>(stream.getExecutionEnvironment(), edge).returns(type);
    }

    /** The classes of tables need not be there, on which {@link UncopiedRows} depends. */
    private static <T> TypeInformation<T> of(TypeInformation<T> type) {
        return RecordKind.of(type) == RecordKind.ROW_DATA
                ? UncopiedRows.of(type)
                : new UncopiedType<>(type);
    }

    final TypeInformation<T> type() {
        return type;
    }

    @Override
    public TypeSerializer<T> createSerializer(SerializerConfig config) {
        return new Serializer<>(type.createSerializer(config));
    }

    @Override
    public boolean isBasicType() {
        return type.isBasicType();
    }

    @Override
    public boolean isTupleType() {
        return type.isTupleType();
    }

    @Override
    public int getArity() {
        return type.getArity();
    }

    @Override
    public int getTotalFields() {
        return type.getTotalFields();
    }

    @Override
    public Class<T> getTypeClass() {
        return type.getTypeClass();
    }

    @Override
    public boolean isKeyType() {
        return type.isKeyType();
    }

    @Override
    public String toString() {
        return type.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof UncopiedType<?> uncopied && type.equals(uncopied.type);
    }

    @Override
    public int hashCode() {
        return type.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof UncopiedType;
    }

    private static final class Serializer<T> extends DelegatingSerializer<T> {

        private static final long serialVersionUID = 1L;

        Serializer(TypeSerializer<T> of) {
            super(of);
        }

        @Override
        public T copy(T from) {
            return from;
        }

        @Override
        public TypeSerializer<T> duplicate() {
            return new Serializer<>(of().duplicate());
        }
    }
}
