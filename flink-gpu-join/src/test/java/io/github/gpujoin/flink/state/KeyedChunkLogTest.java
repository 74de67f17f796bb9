// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A log over state that a snapshot may have damaged. */
class KeyedChunkLogTest {

    private static final byte[] ENTRY = {1, 2, 3};

    /** Values by the name of their state; entries of maps too. */
    private final Map<String, Long> values = new HashMap<>();

    private final Map<Object, Object> entries = new HashMap<>();
    private final KeyedChunkLog log = new KeyedChunkLog(store(), "log");

    private KeyedStateStore store() {
        return proxy(
                KeyedStateStore.class,
                (proxy, method, arguments) ->
                        switch (method.getName()) {
                            case "getState" ->
                                    value(((ValueStateDescriptor<?>) arguments[0]).getName());
                            case "getMapState" -> map((MapStateDescriptor<?, ?>) arguments[0]);
                            default -> throw new UnsupportedOperationException(method.getName());
                        });
    }

    private ValueState<?> value(String name) {
        return proxy(
                ValueState.class,
                (proxy, method, arguments) ->
                        switch (method.getName()) {
                            case "value" -> values.get(name);
                            case "update" -> values.put(name, (Long) arguments[0]);
                            default -> throw new UnsupportedOperationException(method.getName());
                        });
    }

    private MapState<?, ?> map(MapStateDescriptor<?, ?> descriptor) {
        assertThat(descriptor.getName()).isEqualTo("log");
        return proxy(
                MapState.class,
                (proxy, method, arguments) ->
                        switch (method.getName()) {
                            case "get" -> entries.get(arguments[0]);
                            case "put" -> entries.put(arguments[0], arguments[1]);
                            case "remove" -> entries.remove(arguments[0]);
                            case "contains" -> entries.containsKey(arguments[0]);
                            default -> throw new UnsupportedOperationException(method.getName());
                        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        ClassLoader classes = KeyedChunkLogTest.class.getClassLoader();
        return type.cast(Proxy.newProxyInstance(classes, new Class<?>[] {type}, handler));
    }

    @Test
    void shouldRestoreTheEntriesBetweenHeadAndTail() throws Exception {
        assertThat(log.restoredSize()).isZero();
        log.append(ENTRY);
        log.append(ENTRY);
        log.append(ENTRY);
        log.remove();
        log.prepend(ENTRY);
        log.prepend(ENTRY);
        assertThat(log.restoredSize()).isEqualTo(4);
    }

    /** A restore that believed such a tail would queue entries until the heap is full. */
    @ParameterizedTest(name = "{0}={1}")
    @CsvSource({
        "log-tail, 4294967298",
        "log-tail, -1",
        "log-tail, 1000",
        "log-head, -4294967296",
        "log-head, 5"
    })
    void shouldRefuseADamagedPosition(String state, long position) throws Exception {
        log.append(ENTRY);
        log.append(ENTRY);
        values.put(state, position);
        assertThatExceptionOfType(SuppressRestartsException.class)
                .isThrownBy(log::restoredSize)
                .havingCause()
                .withMessageContaining("state=log")
                .withMessageContaining(String.valueOf(position));
    }
}
