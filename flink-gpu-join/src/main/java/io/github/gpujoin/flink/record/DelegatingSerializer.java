// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes and reads as another serializer does, and copies objects in its own way. State that was
 * written with either of them is restored with the other.
 */
public abstract class DelegatingSerializer<T> extends TypeSerializer<T> {

    private static final long serialVersionUID = 1L;

    private final TypeSerializer<T> of;

    protected DelegatingSerializer(TypeSerializer<T> of) {
        this.of = of;
    }

    protected final TypeSerializer<T> of() {
        return of;
    }

    @Override
    public T copy(T from, T reuse) {
        return copy(from);
    }

    @Override
    public boolean isImmutableType() {
        return of.isImmutableType();
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
        return other != null
                && other.getClass() == getClass()
                && of.equals(((DelegatingSerializer<?>) other).of);
    }

    @Override
    public int hashCode() {
        return of.hashCode();
    }

    @Override
    public TypeSerializerSnapshot<T> snapshotConfiguration() {
        return of.snapshotConfiguration();
    }
}
