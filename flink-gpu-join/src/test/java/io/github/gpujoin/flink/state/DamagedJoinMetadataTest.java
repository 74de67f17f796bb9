// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordField;
import java.io.Serializable;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Metadata of a join that a snapshot may have damaged. */
class DamagedJoinMetadataTest {

    private static final int VERSION_AND_SIDES_BYTES = 2 * Integer.BYTES;

    /** Length of 2^31 - 2 characters, as Flink writes it. */
    private static final byte[] LONGEST_TEXT = {-1, -1, -1, -1, 7};

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("k", ColumnType.INT64));

    private static final JoinSpec SPEC =
            new JoinSpec(SCHEMA, List.of(new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER)));

    /** Broadcast states by name. */
    private final Map<String, Map<Object, Object>> states = new HashMap<>();

    private static JoinColumns columns() {
        RecordField key = RecordField.ofColumn(Column.of("k", ColumnType.INT64));
        RecordField record =
                new RecordField(
                        "r", FieldKind.SERIALIZED, true, Types.STRING, StringSerializer.INSTANCE);
        FilterFunction<String> filter = text -> !text.isEmpty();
        Generations generations =
                new Generations(
                        List.of(
                                new Generations.Side(
                                        "d", 0, new Generations.Upstream(List.of(), false))),
                        new Generations.Upstream(List.of(), false));
        return JoinColumns.of(SPEC, List.of(key), List.of(List.of(key, record)))
                .withFunctions(JoinFunctions.NONE.with("Filter", (Serializable) filter, "filter"))
                .withGenerations(generations);
    }

    private void restoreAndWrite() throws Exception {
        OperatorStateStore store =
                proxy(OperatorStateStore.class, (name, arguments) -> broadcast(arguments[0]));
        new JoinMetadata(store, SPEC, columns(), 4, -1).checkAndWrite(getClass().getClassLoader());
    }

    private BroadcastState<?, ?> broadcast(Object descriptor) {
        String state = ((StateDescriptor<?, ?>) descriptor).getName();
        Map<Object, Object> map = states.computeIfAbsent(state, s -> new HashMap<>());
        return proxy(
                BroadcastState.class,
                (method, arguments) ->
                        switch (method) {
                            case "get" -> map.get(arguments[0]);
                            case "put" -> map.put(arguments[0], arguments[1]);
                            case "contains" -> map.containsKey(arguments[0]);
                            case "immutableEntries" -> map.entrySet();
                            case "clear" -> {
                                map.clear();
                                yield null;
                            }
                            default -> throw new UnsupportedOperationException(method);
                        });
    }

    /** Called with the name of the method. */
    private interface Call {
        Object on(String method, Object[] arguments);
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(
                Proxy.newProxyInstance(
                        DamagedJoinMetadataTest.class.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) -> call.on(method.getName(), arguments)));
    }

    @Test
    void shouldRestoreUndamagedMetadata() throws Exception {
        restoreAndWrite();
        assertThat(states.keySet())
                .containsExactlyInAnyOrder(
                        "join-metadata", "join-columns", "join-functions", "join-generations");
        restoreAndWrite();
    }

    @ParameterizedTest
    @CsvSource({
        "join-generations, d, 'a generation is no number: dimension=d, value=x'",
        "join-functions, Filter, 'a function has no digest: value=x'"
    })
    void shouldRefuseADamagedText(String state, String key, String fault) throws Exception {
        restoreAndWrite();
        states.get(state).put(key, "x");

        assertThatThrownBy(this::restoreAndWrite)
                .isInstanceOf(SuppressRestartsException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "The snapshot is damaged: state=%s, %s.\nRestore an earlier snapshot."
                                .formatted(state, fault));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "\nuid", "99999999999"})
    void shouldRefuseADamagedGeneration(String text) throws Exception {
        restoreAndWrite();
        states.get("join-generations").put("d", text);

        assertThatThrownBy(this::restoreAndWrite)
                .hasStackTraceContaining("The snapshot is damaged: state=join-generations");
    }

    static List<long[]> cutValues() {
        return List.of(new long[] {}, new long[] {2}, new long[] {2, 1, 4});
    }

    @ParameterizedTest
    @MethodSource("cutValues")
    void shouldRefuseCutValues(long[] values) throws Exception {
        restoreAndWrite();
        states.get("join-metadata").put(0, values);

        assertThatThrownBy(this::restoreAndWrite)
                .isInstanceOf(SuppressRestartsException.class)
                .hasStackTraceContaining(
                        "The snapshot is damaged: state=join-metadata, values are missing: count="
                                + values.length);
    }

    /** The length of a later format is not known, and its remedy is another release. */
    @Test
    void shouldRefuseALaterFormatByItsNumber() throws Exception {
        restoreAndWrite();
        states.get("join-metadata").put(0, new long[] {3});

        assertThatThrownBy(this::restoreAndWrite)
                .hasStackTraceContaining("The snapshot has format 3 of a join's state");
    }

    /** A restart would meet the damage again. */
    @Test
    void shouldSuppressRestartsIfColumnsAreCut() throws Exception {
        restoreAndWrite();
        byte[] whole = columns().toBytes();
        states.get("join-columns").put(0, Arrays.copyOf(whole, 6));

        assertThatThrownBy(this::restoreAndWrite)
                .isInstanceOf(SuppressRestartsException.class)
                .hasStackTraceContaining(
                        "The snapshot is damaged: state=join-columns, number of sides ends after the"
                                + " last byte: offset=4, bytes=6.\nRestore an earlier snapshot.");
    }

    /** The length alone would allocate 4 GB of characters. */
    @Test
    void shouldRefuseATextLongerThanTheSnapshot() throws Exception {
        byte[] bytes = columns().toBytes();
        System.arraycopy(LONGEST_TEXT, 0, bytes, VERSION_AND_SIDES_BYTES, LONGEST_TEXT.length);

        assertThatIllegalStateException()
                .isThrownBy(() -> SavedColumns.of(bytes))
                .withMessageContaining(
                        "state=join-columns, name of a side has an impossible length:"
                                + " length=2147483646, offset=8, remainingBytes="
                                + (bytes.length - VERSION_AND_SIDES_BYTES));
    }

    /** The snapshot of the last column's serializer is at the end, behind its length. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE, -1})
    void shouldRefuseASerializerLongerThanTheSnapshot(int length) throws Exception {
        byte[] bytes = columns().toBytes();
        SavedColumns.SavedColumn last = SavedColumns.of(bytes).sides().get(1).columns().get(1);
        int at = bytes.length - last.serializer().length - Integer.BYTES;
        ByteBuffer.wrap(bytes).putInt(at, length);

        assertThatIllegalStateException()
                .isThrownBy(() -> SavedColumns.of(bytes))
                .withMessageContaining(
                        "state=join-columns, serializer of column 'r' has an impossible length:"
                                + " length=%d, offset=%d, remainingBytes=%d."
                                        .formatted(length, at, last.serializer().length));
    }

    @Test
    void shouldRefuseAnUnknownKind() throws Exception {
        byte[] bytes = columns().toBytes();
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        bytes[text.indexOf(FieldKind.SERIALIZED.name())] = 'X';

        assertThatIllegalStateException()
                .isThrownBy(() -> SavedColumns.of(bytes))
                .withMessageContaining(
                        "state=join-columns, kind of column 'r' is unknown: value=XERIALIZED");
    }

    @Test
    void shouldRefuseBytesBehindTheLastColumn() throws Exception {
        byte[] bytes = columns().toBytes();

        assertThatIllegalStateException()
                .isThrownBy(() -> SavedColumns.of(Arrays.copyOf(bytes, bytes.length + 3)))
                .withMessageContaining("bytes follow the last value: bytes=3");
    }

    @Test
    void shouldRefuseAnyCutOfTheColumns() throws Exception {
        byte[] bytes = columns().toBytes();
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatIllegalStateException()
                    .isThrownBy(() -> SavedColumns.of(cut))
                    .withMessageStartingWith("The snapshot is damaged: state=join-columns, ");
        }
    }

    @Test
    void shouldReadOrRefuseAnyChangeOfTheColumns() throws Exception {
        byte[] bytes = columns().toBytes();
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = bytes.clone();
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                assertThat(SavedColumns.of(damaged).sides()).isNotNull();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("The snapshot ");
            }
        }
    }
}
