// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every public method of the API names the argument that is null. */
class NullArgumentsTest {

    /**
     * A parameter of a public method.
     *
     * @param index from 0
     */
    record Case(Method method, int index) {

        Parameter parameter() {
            return method.getParameters()[index];
        }

        @Override
        public String toString() {
            Class<?> type = method.getDeclaringClass();
            String types =
                    Arrays.stream(method.getParameterTypes())
                            .map(Class::getSimpleName)
                            .collect(Collectors.joining(", "));
            return "%s.%s(%s): %s"
                    .formatted(
                            type.getSimpleName(), method.getName(), types, parameter().getName());
        }
    }

    private static final StreamExecutionEnvironment ENV =
            StreamExecutionEnvironment.getExecutionEnvironment();
    private static final StreamTableEnvironment TABLES = StreamTableEnvironment.create(ENV);
    private static final DataStream<Row> ROWS =
            ENV.fromData(List.of(Row.of(1L)), Types.ROW_NAMED(new String[] {"key"}, Types.LONG));
    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final DataStream<Chunk> CHUNKS =
            ROWS.map(row -> (Chunk) null).returns(ChunkTypeInfo.of(SCHEMA));
    private static final Table TABLE = TABLES.fromDataStream(ROWS);
    private static final ColumnarSource SOURCE =
            ColumnarSource.of(
                    new NoFormat(SCHEMA), new org.apache.flink.core.fs.Path("file:///none"));

    /** One object of each class with instance methods. */
    private static final Map<Class<?>, Object> INSTANCES =
            Stream.of(
                            StarJoin.of(ROWS),
                            dimension(),
                            StarJoin.of(ROWS).groupBy(),
                            ColumnPredicate.column("key"),
                            PairJoin.build(ROWS),
                            PairJoin.build(ROWS).probe(ROWS),
                            PairJoin.build(ROWS).probe(ROWS).where(row -> 1L, Types.LONG),
                            PairJoin.build(ROWS)
                                    .probe(ROWS)
                                    .where(row -> 1L, Types.LONG)
                                    .equalTo(row -> 1L, Types.LONG),
                            ChunkJoin.of(CHUNKS, CHUNKS),
                            RegularJoin.of(ROWS, ROWS),
                            TableJoin.in(TABLES),
                            TableJoin.in(TABLES).build(TABLE),
                            TableJoin.in(TABLES).build(TABLE).probe(TABLE))
                    .collect(Collectors.toMap(Object::getClass, Function.identity()));

    private static final Map<Class<?>, Object> ARGUMENTS =
            Map.ofEntries(
                    Map.entry(String.class, "key"),
                    Map.entry(String[].class, new String[] {"key"}),
                    Map.entry(DataStream.class, ROWS),
                    Map.entry(Consumer.class, (Consumer<Object>) unused -> {}),
                    Map.entry(FilterFunction.class, (FilterFunction<Row>) row -> true),
                    Map.entry(MapFunction.class, (MapFunction<Row, RowKind>) Row::getKind),
                    Map.entry(KeySelector.class, (KeySelector<Row, Long>) row -> 1L),
                    Map.entry(JoinFunction.class, (JoinFunction<Row, Row, Long>) (b, p) -> 1L),
                    Map.entry(TypeInformation.class, Types.LONG),
                    Map.entry(Duration.class, Duration.ofHours(1)),
                    Map.entry(ColumnPredicate.class, ColumnPredicate.column("key").equalTo(1)),
                    Map.entry(StreamExecutionEnvironment.class, ENV),
                    Map.entry(StreamTableEnvironment.class, TABLES),
                    Map.entry(Table.class, TABLE),
                    Map.entry(Schema.class, Schema.newBuilder().build()),
                    Map.entry(Class.class, Row.class),
                    Map.entry(
                            JoinedChunkWriter.Factory.class,
                            (JoinedChunkWriter.Factory)
                                    (attempt, threads) -> {
                                        throw new IOException("Not called");
                                    }),
                    Map.entry(ChunkSchema.class, SCHEMA),
                    Map.entry(ColumnarSource.class, SOURCE),
                    Map.entry(List.class, List.of(SCHEMA)));

    private static Dimension<Row> dimension() {
        List<Dimension<Row>> dimensions = new ArrayList<>();
        StarJoin.of(ROWS).dimension(ROWS, dimensions::add);
        return dimensions.get(0);
    }

    static Stream<Case> parameters() throws Exception {
        List<Case> cases = new ArrayList<>();
        for (Class<?> type : publicTypes()) {
            for (Method method : type.getDeclaredMethods()) {
                // Users implement interfaces.
                if (!Modifier.isPublic(method.getModifiers())
                        || Modifier.isAbstract(method.getModifiers())
                        || isInherited(method)) {
                    continue;
                }
                for (int i = 0; i < method.getParameterCount(); i++) {
                    if (!method.getParameterTypes()[i].isPrimitive()) {
                        cases.add(new Case(method, i));
                    }
                }
            }
        }
        assertThat(cases).hasSizeGreaterThan(50);
        return cases.stream();
    }

    private static List<Class<?>> publicTypes() throws Exception {
        List<Class<?>> types = new ArrayList<>();
        List<String> names = new ArrayList<>(classNames(StarJoin.class));
        names.addAll(classNames(ChunkTypeInfo.class));
        for (String name : names) {
            Class<?> type = Class.forName(name);
            if (Modifier.isPublic(type.getModifiers())) {
                types.add(type);
            }
        }
        return types;
    }

    private static List<String> classNames(Class<?> neighbour)
            throws URISyntaxException, IOException {
        Path classes =
                Path.of(neighbour.getProtectionDomain().getCodeSource().getLocation().toURI());
        String packageName = neighbour.getPackageName();
        try (Stream<Path> files = Files.list(classes.resolve(packageName.replace('.', '/')))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".class") && !file.startsWith("package-info"))
                    .map(file -> packageName + "." + file.replace(".class", ""))
                    .sorted()
                    .toList();
        }
    }

    private static boolean isInherited(Method method) {
        try {
            method.getDeclaringClass()
                    .getSuperclass()
                    .getMethod(method.getName(), method.getParameterTypes());
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource("parameters")
    void shouldNameTheArgumentThatIsNull(Case of) {
        Object[] arguments =
                Arrays.stream(of.method.getParameterTypes())
                        .map(NullArgumentsTest::argument)
                        .toArray();
        if (of.method.getName().endsWith("Chunks")) {
            arguments[0] = CHUNKS;
        }
        arguments[of.index] = null;
        Object instance = null;
        if (!Modifier.isStatic(of.method.getModifiers())) {
            instance = INSTANCES.get(of.method.getDeclaringClass());
            assertThat(instance).as("object of %s", of.method.getDeclaringClass()).isNotNull();
        }
        Object on = instance;
        assertThatThrownBy(() -> of.method.invoke(on, arguments))
                .isInstanceOf(InvocationTargetException.class)
                .cause()
                .isInstanceOf(NullPointerException.class)
                .hasMessage(of.parameter().getName());
    }

    private static Object argument(Class<?> type) {
        if (type == long.class) {
            return 1L;
        }
        if (type == int.class) {
            return 1;
        }
        if (type == long[].class) {
            return new long[] {1};
        }
        assertThat(ARGUMENTS).containsKey(type);
        return ARGUMENTS.get(type);
    }
}
