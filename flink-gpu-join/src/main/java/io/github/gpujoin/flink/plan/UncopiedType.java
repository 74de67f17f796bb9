// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.io.IOException;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;

/**
 * The type of records that an operator reads before it returns, and neither changes nor keeps.
 * Flink copies each record between chained operators, unless objects are reused. For such an
 * operator, the copy has no use. Everything else is as in the type of the records.
 */
final class UncopiedType<T> extends TypeInformation<T> {

    private static final long serialVersionUID = 1L;

    private final TypeInformation<T> type;

    private UncopiedType(TypeInformation<T> type) {
        this.type = type;
    }

    /**
     * Returns the same stream for one operator that neither changes nor keeps its records. Other
     * operators behind the given stream still receive copies.
     */
    static <T> DataStream<T> stream(DataStream<T> stream) {
        // No vertex of the job, but a type of its own. Flink chooses the edge's partitioner, as if
        // the operator were behind the stream itself.
        PartitionTransformation<T> edge =
                new PartitionTransformation<>(stream.getTransformation(), null);
        return new OperatorStream<>(stream.getExecutionEnvironment(), edge)
                .returns(new UncopiedType<>(stream.getType()));
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

    /** Writes and reads as another serializer does. */
    private static final class Serializer<T> extends TypeSerializer<T> {

        private static final long serialVersionUID = 1L;

        private final TypeSerializer<T> of;

        Serializer(TypeSerializer<T> of) {
            this.of = of;
        }

        @Override
        public T copy(T from) {
            return from;
        }

        @Override
        public T copy(T from, T reuse) {
            return from;
        }

        @Override
        public boolean isImmutableType() {
            return of.isImmutableType();
        }

        @Override
        public TypeSerializer<T> duplicate() {
            return new Serializer<>(of.duplicate());
        }

        @Override
        public T createInstance() {
            return of.createInstance();
        }

        @Override
        public int getLength() {
            return of.getLength();
        }

        @Override
        public void serialize(T record, DataOutputView target) throws IOException {
            of.serialize(record, target);
        }

        @Override
        public T deserialize(DataInputView source) throws IOException {
            return of.deserialize(source);
        }

        @Override
        public T deserialize(T reuse, DataInputView source) throws IOException {
            return of.deserialize(reuse, source);
        }

        @Override
        public void copy(DataInputView source, DataOutputView target) throws IOException {
            of.copy(source, target);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Serializer<?> serializer && of.equals(serializer.of);
        }

        @Override
        public int hashCode() {
            return of.hashCode();
        }

        /** No state contains records that are not copied. */
        @Override
        public TypeSerializerSnapshot<T> snapshotConfiguration() {
            return of.snapshotConfiguration();
        }
    }
}
