// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** State of one partition that a snapshot may have damaged. */
class DamagedBuildStateTest {

    private static final PartitionKeys KEYS = new PartitionKeys(1, 1, 0);
    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("k", ColumnType.INT64));

    /** Values and maps by the name of their state. */
    private final Map<String, Object> values = new HashMap<>();

    private final Map<String, Map<Object, Object>> maps = new HashMap<>();

    private KeyedStateStore store() {
        return proxy(
                KeyedStateStore.class,
                (proxy, method, arguments) -> {
                    String name = ((StateDescriptor<?, ?>) arguments[0]).getName();
                    return method.getName().equals("getMapState") ? map(name) : value(name);
                });
    }

    private ValueState<?> value(String name) {
        return proxy(
                ValueState.class,
                (proxy, method, arguments) ->
                        method.getName().equals("value")
                                ? values.get(name)
                                : values.put(name, arguments[0]));
    }

    private MapState<?, ?> map(String name) {
        Map<Object, Object> map = maps.computeIfAbsent(name, n -> new HashMap<>());
        return proxy(
                MapState.class,
                (proxy, method, arguments) ->
                        switch (method.getName()) {
                            case "get" -> map.get(arguments[0]);
                            case "put" -> map.put(arguments[0], arguments[1]);
                            case "contains" -> map.containsKey(arguments[0]);
                            case "entries" -> map.entrySet();
                            default -> throw new UnsupportedOperationException(method.getName());
                        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        ClassLoader classes = DamagedBuildStateTest.class.getClassLoader();
        return type.cast(Proxy.newProxyInstance(classes, new Class<?>[] {type}, handler));
    }

    private static PartitionLog logOf(KeyedStateStore store) {
        JoinSpec spec =
                new JoinSpec(
                        SCHEMA,
                        List.of(
                                new DimensionSpec(
                                        "d",
                                        SCHEMA,
                                        0,
                                        0,
                                        JoinKind.INNER,
                                        DimensionSpec.NO_CHANGES)));
        return new PartitionLog(store, "log", spec, KEYS, new LogBytes(), false, key -> {});
    }

    /** Chunks of a lost end of a log would be missing from the tables without a word. */
    @Test
    void shouldRefuseALogWithFewerChunksThanItsSizeSays() throws Exception {
        PartitionLog log = logOf(store());
        for (int i = 0; i < 5; i++) {
            ChunkBuilder builder = new ChunkBuilder(SCHEMA, 8);
            builder.putLong(0, i);
            builder.endRow();
            Chunk chunk = builder.seal(0, 0, 0, i);
            log.append(0, chunk);
        }
        log.snapshot();
        assertThat(logOf(store()).restoredCount(0)).isEqualTo(5);

        values.put("log-tail", 3L);

        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(() -> logOf(store()).restoredCount(0))
                .havingCause()
                .withMessage(
                        "The snapshot is damaged: state=log, a build log lacks chunks: partition=0, chunks=3,"
                                + " expected=5.\nRestore an earlier snapshot.");
    }

    static List<long[]> impossibleSizes() {
        return List.of(
                new long[] {},
                new long[] {1},
                new long[] {-1, 0, 0},
                new long[] {5, -9, Long.MIN_VALUE});
    }

    @ParameterizedTest
    @MethodSource("impossibleSizes")
    void shouldRefuseAnImpossibleSize(long[] words) {
        values.put("size", words);
        BuildLogSizes sizes = new BuildLogSizes(store(), "size", KEYS, key -> {});

        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(() -> sizes.get(0))
                .havingCause()
                .withMessageContaining("a build log has an impossible size: partition=0");
    }

    /** Such a number would mark another row, or take memory for rows that do not exist. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 32_768, 65_536})
    void shouldRefuseMarksOfRowsThatCannotExist(int block) {
        BuildRowMarks marks = new BuildRowMarks(store(), KEYS, key -> {}, 0);
        maps.get("marked-build-rows").put(block, new byte[] {1});

        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(marks::restore)
                .havingCause()
                .withMessageContaining("it marks build rows that cannot exist")
                .withMessageContaining("block=" + block);
    }

    /** A restart would read the cut entry again. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void shouldSuppressRestartsIfAWaitingChunkIsCut(int bytes) throws Exception {
        values.put("probe-log-tail", 1L);
        maps.computeIfAbsent("probe-log", name -> new HashMap<>()).put(0L, new byte[bytes]);
        ProbeLog log = new ProbeLog(store(), KEYS, key -> {}, SCHEMA);
        log.restore(partition -> {});

        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(log::peek)
                .havingCause()
                .withMessage(
                        "The snapshot is damaged: state=probe-log, an entry is cut: bytes=%d.\n"
                                + "Restore an earlier snapshot.",
                        bytes);
    }
}
