// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordField;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.tools.ToolProvider;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole POJOs of a snapshot whose class has other fields by now, also within fields. */
class PojoMigrationTest {

    private static final Column KEY = new Column("key", ColumnType.INT64, false);

    @TempDir private Path folder;

    /** A class Outer with a field {@code inner} of a class Inner, compiled anew. */
    private record Version(Class<?> outer, RecordField field, TypeSerializer<Object> serializer) {

        byte[] write(Object value) throws Exception {
            DataOutputSerializer out = new DataOutputSerializer(64);
            serializer.serialize(value, out);
            return out.getCopyOfBuffer();
        }

        Object inner(Object value) throws Exception {
            return outer.getField("inner").get(value);
        }

        /** An Outer whose Inner has some fields set. */
        Object make(Map<String, Object> fields) throws Exception {
            Object made = outer.getConstructor().newInstance();
            Object inner = outer.getField("inner").getType().getConstructor().newInstance();
            for (Map.Entry<String, Object> each : fields.entrySet()) {
                inner.getClass().getField(each.getKey()).set(inner, each.getValue());
            }
            outer.getField("inner").set(made, inner);
            return made;
        }
    }

    @SuppressWarnings("unchecked")
    private Version version(String name, String innerFields) throws Exception {
        Path at = Files.createDirectories(folder.resolve(name));
        Path inner =
                Files.writeString(
                        at.resolve("Inner.java"), "public class Inner { " + innerFields + " }");
        Path outer =
                Files.writeString(
                        at.resolve("Outer.java"),
                        "public class Outer { public long key; public Inner inner; }");
        String[] arguments = {"-d", at.toString(), inner.toString(), outer.toString()};
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments)).isZero();
        URLClassLoader loader =
                new URLClassLoader(new URL[] {at.toUri().toURL()}, getClass().getClassLoader());
        Class<?> type = loader.loadClass("Outer");
        TypeInformation<?> info = TypeExtractor.createTypeInfo(type);
        TypeSerializer<Object> serializer =
                (TypeSerializer<Object>) info.createSerializer(new SerializerConfigImpl());
        RecordField field =
                new RecordField("$record", FieldKind.SERIALIZED, false, info, serializer);
        return new Version(type, field, serializer);
    }

    /** What turns records of one version into records of the other. */
    private static ValueMigration migration(Version from, Version to) throws Exception {
        ChunkSchema keys = ChunkSchema.of(List.of(KEY));
        JoinSpec spec =
                new JoinSpec(keys, List.of(new DimensionSpec("build", keys, 0, 0, JoinKind.INNER)));
        JoinColumns columns =
                JoinColumns.of(
                        spec, List.of(RecordField.ofColumn(KEY)), List.of(List.of(from.field)));
        SavedColumns.SavedColumn saved =
                SavedColumns.of(columns.toBytes()).sides().get(1).columns().get(0);
        return ValueMigration.of(saved, to.field, "dimension 'build'", to.outer.getClassLoader());
    }

    private static Object migrated(Version from, Version to, Map<String, Object> inner)
            throws Exception {
        byte[] value = migration(from, to).migrate(from.write(from.make(inner)));
        return to.inner(to.serializer.deserialize(new DataInputDeserializer(value)));
    }

    @Test
    void shouldRestoreFieldsOfNestedPojoByName() throws Exception {
        Version from = version("from", "public long a; public long b;");
        Version to = version("to", "public long b; public long a;");
        assertThat(migrated(from, to, Map.of("a", 1L, "b", 2L)))
                .hasFieldOrPropertyWithValue("a", 1L)
                .hasFieldOrPropertyWithValue("b", 2L);
    }

    /** As Flink does with POJOs in state: the field is gone, and the new one has no value. */
    @Test
    void shouldRestoreRenamedFieldOfNestedPojoWithoutValue() throws Exception {
        Version from = version("from", "public long a; public long b;");
        Version to = version("to", "public long a; public long c;");
        assertThat(migrated(from, to, Map.of("a", 1L, "b", 2L)))
                .hasFieldOrPropertyWithValue("a", 1L)
                .hasFieldOrPropertyWithValue("c", 0L);
    }

    @Test
    void shouldRestoreFieldThatIsBoxedNow() throws Exception {
        Version from = version("from", "public long a;");
        Version to = version("to", "public Long a;");
        assertThat(migrated(from, to, Map.of("a", 1L))).hasFieldOrPropertyWithValue("a", 1L);
    }

    @Test
    void shouldRefuseFieldThatIsPrimitiveNow() throws Exception {
        Version from = version("from", "public Long a;");
        Version to = version("to", "public long a;");
        assertThatThrownBy(() -> migration(from, to))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Records of dimension 'build' cannot be restored")
                .hasMessageContaining("Field 'inner.a' was java.lang.Long and is long");
    }

    @Test
    void shouldRefuseAnotherTypeOfNestedField() throws Exception {
        Version from = version("from", "public int a;");
        Version to = version("to", "public long a;");
        assertThatThrownBy(() -> migration(from, to))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Records of dimension 'build' cannot be restored");
    }
}
