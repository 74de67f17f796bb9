// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static io.github.gpujoin.flink.emit.StarFixture.ALL;
import static io.github.gpujoin.flink.emit.StarFixture.POJO;
import static io.github.gpujoin.flink.emit.StarFixture.columns;
import static io.github.gpujoin.flink.emit.StarFixture.emitted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.emit.StarFixture.Data;
import io.github.gpujoin.flink.pack.AllKinds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(RegionLeakExtension.class)
class ResultEmittersTest {

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldGiveRowsWithEveryFieldAndTheTimestampOfTheirFact(long seed) throws Exception {
        Random random = new Random(seed);
        Data data = Data.random(random);
        ResultColumns columns =
                columns(
                        List.of("text", "anInt", "boxedLong", "instant", "aBoolean", "boxedChar"),
                        List.of("c_since", "c_key", "c_name", "c_open", "c_size"));

        List<StreamRecord<Row>> elements = emitted(data, ResultEmitters.rows(columns), random);

        List<List<Object>> expected =
                data.matches().stream()
                        .map(
                                m ->
                                        fields(
                                                m.record(),
                                                m.city(),
                                                m.fact() % 5 == 0 ? null : (long) m.fact()))
                        .toList();
        assertThat(expected).isNotEmpty();
        assertThat(
                        elements.stream()
                                .map(
                                        e ->
                                                fields(
                                                        e.getValue(),
                                                        e.hasTimestamp()
                                                                ? e.getTimestamp()
                                                                : null)))
                .containsExactlyInAnyOrderElementsOf(expected);
        assertThat(columns.rowType().getFieldNames())
                .containsExactly(
                        "text",
                        "anInt",
                        "boxedLong",
                        "instant",
                        "aBoolean",
                        "boxedChar",
                        "c_since",
                        "c_key",
                        "c_name",
                        "c_open",
                        "c_size");
    }

    private static List<Object> fields(AllKinds fact, Row city, Long timestamp) {
        return Arrays.asList(
                fact.text,
                fact.anInt,
                fact.boxedLong,
                fact.instant,
                fact.aBoolean,
                fact.boxedChar,
                city.getField(4),
                city.getField(0),
                city.getField(1),
                city.getField(3),
                city.getField(2),
                timestamp);
    }

    private static List<Object> fields(Row row, Long timestamp) {
        List<Object> fields = new ArrayList<>();
        for (int i = 0; i < row.getArity(); i++) {
            fields.add(row.getField(i));
        }
        assertThat(row.<Object>getFieldAs("c_name")).isSameAs(row.getField(8));
        fields.add(timestamp);
        return fields;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {4, 5, 6})
    void shouldRestoreEveryKindOfFieldOfAPojo(long seed) throws Exception {
        Random random = new Random(seed);
        Data data = Data.random(random);

        List<StreamRecord<AllKinds>> elements =
                emitted(data, ResultEmitters.records(columns(ALL, List.of()), POJO), random);

        // The reference engine keeps the order of the facts.
        List<AllKinds> expected = data.matches().stream().map(m -> m.record()).toList();
        assertThat(expected).isNotEmpty();
        assertThat(EmitterRun.values(elements))
                .usingRecursiveFieldByFieldElementComparator(EmitterRun.EXACTLY)
                .isEqualTo(expected);
        assertThat(EmitterRun.values(elements)).doesNotHaveDuplicates();
    }

    /** A Java record as the result. */
    public record Summary(String c_name, long aLong, Double c_size, int unfilled, short aShort) {}

    @Test
    void shouldGiveJavaRecords() throws Exception {
        Random random = new Random(7);
        Data data = Data.random(random);

        List<StreamRecord<Summary>> elements =
                emitted(
                        data,
                        ResultEmitters.records(
                                columns(List.of("aShort", "aLong"), List.of("c_size", "c_name")),
                                TypeInformation.of(Summary.class)),
                        random);

        assertThat(EmitterRun.values(elements))
                .containsExactlyInAnyOrderElementsOf(
                        data.matches().stream()
                                .map(
                                        m ->
                                                new Summary(
                                                        m.city().getFieldAs(1),
                                                        m.record().aLong,
                                                        m.city().getFieldAs(2),
                                                        0,
                                                        m.record().aShort))
                                .toList());
    }

    @ParameterizedTest(name = "chunks of {0} bytes")
    @ValueSource(ints = {1, 100, 5000, 1 << 20})
    void shouldGatherChunksOfFixedAndVariableWidthColumns(int chunkBytes) throws Exception {
        Random random = new Random(chunkBytes);
        Data data = Data.random(random);
        ResultColumns columns =
                columns(
                        List.of("aLong", "text", "anInt", "aDouble"),
                        List.of("c_name", "c_key", "c_size"));

        List<StreamRecord<Chunk>> elements =
                emitted(data, ResultEmitters.chunks(columns, chunkBytes, false), random);

        List<List<Object>> rows = new ArrayList<>();
        for (Chunk chunk : EmitterRun.values(elements)) {
            Chunk.wrap(columns.schema(), chunk.bytes());
            ChunkCursor row = new ChunkCursor(chunk.schema());
            for (int i = 0; i < chunk.rowCount(); i++) {
                row.at(chunk, i);
                rows.add(
                        Arrays.asList(
                                row.getLong("aLong"),
                                row.getString("text"),
                                row.getInt("anInt"),
                                Double.doubleToLongBits(row.getDouble("aDouble")),
                                row.getString("c_name"),
                                row.getInt("c_key"),
                                row.isNull("c_size") ? null : row.getDouble("c_size")));
            }
        }
        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(
                        data.matches().stream()
                                .map(
                                        m ->
                                                Arrays.asList(
                                                        m.record().aLong,
                                                        m.record().text,
                                                        (Object) m.record().anInt,
                                                        Double.doubleToLongBits(m.record().aDouble),
                                                        m.city().getField(1),
                                                        m.city().getField(0),
                                                        m.city().getField(2)))
                                .toList());
        assertThat(EmitterRun.values(elements))
                .isSortedAccordingTo(Comparator.comparing(Chunk::sequence));
    }

    @Test
    void shouldGatherChunksOfFixedColumnsOnly() throws Exception {
        Random random = new Random(11);
        Data data = Data.random(random);
        ResultColumns columns =
                columns(List.of("aLong", "aFloat", "aShort", "aByte"), List.of("c_key"));

        List<StreamRecord<Chunk>> elements =
                emitted(data, ResultEmitters.chunks(columns, 64, false), random);

        List<Long> longs = new ArrayList<>();
        List<Short> shorts = new ArrayList<>();
        List<Byte> bytes = new ArrayList<>();
        List<Integer> keys = new ArrayList<>();
        for (Chunk chunk : EmitterRun.values(elements)) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                longs.add(chunk.getLong(0, row));
                shorts.add((short) chunk.getInt(2, row));
                bytes.add((byte) chunk.getInt(3, row));
                keys.add(chunk.getInt(4, row));
            }
        }
        assertThat(longs).isEqualTo(data.matches().stream().map(m -> m.record().aLong).toList());
        assertThat(shorts).isEqualTo(data.matches().stream().map(m -> m.record().aShort).toList());
        assertThat(bytes).isEqualTo(data.matches().stream().map(m -> m.record().aByte).toList());
        assertThat(keys)
                .isEqualTo(
                        data.matches().stream().map(m -> m.record().boxedLong.intValue()).toList());
    }

    @Test
    void shouldDecodeTheTextOfABuildRowOnce() throws Exception {
        Random random = new Random(12);
        Data data = Data.random(random);
        Row city = Row.of(3, "the one city", 1.0, true, null);

        List<StreamRecord<Row>> elements =
                emitted(
                        new Data(data.facts(), List.of(city), data.days()),
                        ResultEmitters.rows(columns(List.of(), List.of("c_name"))),
                        random);

        assertThat(elements).hasSizeGreaterThan(1);
        Object first = elements.get(0).getValue().getField(0);
        assertThat(first).isEqualTo("the one city");
        assertThat(EmitterRun.values(elements))
                .allSatisfy(row -> assertThat(row.getField(0)).isSameAs(first));
    }

    /** Has a primitive field where the column may be null. */
    public static class Size {
        public double c_size;
    }

    @Test
    void shouldFailOnANullForAPrimitiveField() {
        Random random = new Random(13);
        Data data = Data.random(random);
        ResultColumns columns = columns(List.of(), List.of("c_size"));

        assertThatThrownBy(
                        () ->
                                emitted(
                                        data,
                                        ResultEmitters.records(
                                                columns, TypeInformation.of(Size.class)),
                                        random))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Null for a primitive field: field=")
                .hasMessageContaining("c_size");
    }
}
