// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.flink.pack.AllKinds;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordEncoderTest {

    /** A Java record, which Flink takes for a POJO, though its fields have no offsets. */
    public record Trade(int id, double price, Long volume, String venue, boolean open) {}

    /** Adds a field that the layout of its parent does not know. */
    public static class MoreKinds extends AllKinds {
        public int extra;
    }

    private static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);

    private static <T> RecordLayout<T> layout(
            TypeInformation<T> type, List<String> columns, String... keys) {
        return RecordLayout.of(type, columns, List.of(keys), new SerializerConfigImpl());
    }

    private static <T> Chunk encode(RecordLayout<T> layout, List<T> records) throws Exception {
        RecordEncoder<T> encoder = layout.encoder();
        ChunkBuilder builder = new ChunkBuilder(layout.schema(), 1 << 20);
        RecordEncoder.Target target = encoder.target(builder);
        long timestamp = 0;
        for (T record : records) {
            if (encoder.accept(record)) {
                encoder.encode(record, timestamp++, target);
            }
        }
        return builder.seal(0, 0, 0, 0);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteEveryKindOfField(long seed) throws Exception {
        Random random = new Random(seed);
        List<String> columns = new ArrayList<>(RecordShape.of(POJO).names());
        Collections.shuffle(columns, random);
        // A layout that travelled must find the fields again.
        RecordLayout<AllKinds> layout = InstantiationUtil.clone(layout(POJO, columns));
        List<AllKinds> records = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            records.add(AllKinds.random(random, 10));
        }

        Chunk chunk = encode(layout, records);

        ChunkCursor row = new ChunkCursor(chunk.schema());
        assertThat(chunk.rowCount()).isEqualTo(records.size());
        for (int i = 0; i < records.size(); i++) {
            row.at(chunk, i);
            AllKinds record = records.get(i);
            assertPrimitives(row, record);
            assertObjects(row, record, layout);
        }
    }

    @Test
    void shouldKeepRecordsWithSomeNullKeysAndGiveThemKeysOfTheirOwn() throws Exception {
        RecordLayout<AllKinds> layout =
                layout(POJO, List.of("boxedInt", "boxedLong", "anInt"), "boxedInt", "boxedLong")
                        .keepingNullKeys(Map.of("boxedLong", 0b10, "anInt", 0b100));
        assertThat(layout.nullKeyBits())
                .as("anInt is never null")
                .isEqualTo(Map.of("boxedLong", 2));
        RecordEncoder<AllKinds> encoder = layout.encoder();
        ChunkBuilder builder = new ChunkBuilder(layout.schema(), 1 << 20);
        RecordEncoder.Target target = encoder.target(builder);
        AllKinds record = new AllKinds();
        assertThat(encoder.accept(record)).as("the other key drops it").isFalse();
        record.boxedInt = 7;
        Set<Long> keys = new HashSet<>();
        for (int i = 0; i < 10; i++) {
            assertThat(encoder.accept(record)).isTrue();
            keys.add(encoder.key(record, 1));
            encoder.encode(record, 0, target);
        }
        record.boxedLong = 8L;
        assertThat(encoder.accept(record)).isTrue();
        encoder.encode(record, 0, target);

        Chunk chunk = builder.seal(0, 0, 0, 0);
        int nullKeys = chunk.schema().require(RecordLayout.NULL_KEYS);
        assertThat(keys).hasSize(10);
        for (int row = 0; row < 10; row++) {
            assertThat(chunk.getInt(nullKeys, row)).isEqualTo(0b10);
            assertThat(keys).contains(chunk.getLong(1, row));
        }
        assertThat(chunk.getInt(nullKeys, 10)).isZero();
        assertThat(chunk.getLong(1, 10)).isEqualTo(8);
    }

    @Test
    void shouldAddNoColumnWhereNoKeptKeyCanBeNull() {
        RecordLayout<AllKinds> layout = layout(POJO, List.of("anInt"), "anInt");
        assertThat(layout.keepingNullKeys(Map.of("anInt", 1))).isSameAs(layout);
    }

    private static void assertPrimitives(ChunkCursor row, AllKinds record) {
        assertThat(row.getInt("anInt")).isEqualTo(record.anInt);
        assertThat(row.getLong("aLong")).isEqualTo(record.aLong);
        assertThat((float) row.getDouble("aFloat")).isEqualTo(Float.valueOf(record.aFloat));
        assertThat(row.getDouble("aDouble")).isEqualTo(Double.valueOf(record.aDouble));
        assertThat(row.getInt("aShort")).isEqualTo(record.aShort);
        assertThat(row.getInt("aByte")).isEqualTo(record.aByte);
        assertThat(row.getInt("aChar")).isEqualTo(record.aChar);
        assertThat(row.getInt("aBoolean")).isEqualTo(record.aBoolean ? 1 : 0);
        assertThat(row.getLong("bean")).isEqualTo(record.getBean());
    }

    private static void assertObjects(
            ChunkCursor row, AllKinds record, RecordLayout<AllKinds> layout) throws Exception {
        assertThat(row.isNull("boxedInt") ? null : (Integer) row.getInt("boxedInt"))
                .isEqualTo(record.boxedInt);
        assertThat(row.isNull("boxedLong") ? null : (Long) row.getLong("boxedLong"))
                .isEqualTo(record.boxedLong);
        assertThat(row.isNull("boxedDouble") ? null : (Double) row.getDouble("boxedDouble"))
                .isEqualTo(record.boxedDouble);
        assertThat(row.isNull("boxedChar") ? null : (Character) (char) row.getInt("boxedChar"))
                .isEqualTo(record.boxedChar);
        assertThat(row.getString("text")).isEqualTo(record.text);
        assertThat(row.getString("beanText")).isEqualTo(record.getBeanText());
        int bytes = row.schema().require("bytes");
        assertThat(row.getBytes(bytes)).isEqualTo(record.bytes);
        byte[] instant = row.getBytes(row.schema().require("instant"));
        assertThat(
                        instant == null
                                ? null
                                : layout.field("instant")
                                        .serializer()
                                        .deserialize(new DataInputDeserializer(instant)))
                .isEqualTo(record.instant);
    }

    @Test
    void shouldWriteJavaRecords() throws Exception {
        List<String> columns = List.of("id", "price", "volume", "venue", "open");
        Chunk chunk =
                encode(
                        layout(TypeInformation.of(Trade.class), columns, "volume"),
                        List.of(
                                new Trade(1, 2.5, 30L, "XETRA", true),
                                new Trade(2, 3.5, null, "XETRA", true),
                                new Trade(3, 4.5, -1L, null, false)));

        ChunkCursor row = new ChunkCursor(chunk.schema()).at(chunk, 1);
        assertThat(chunk.rowCount()).isEqualTo(2);
        assertThat(row.getInt("id")).isEqualTo(3);
        assertThat(row.getDouble("price")).isEqualTo(4.5);
        assertThat(row.getLong("volume")).isEqualTo(-1);
        assertThat(row.getString("venue")).isNull();
        assertThat(row.getInt("open")).isZero();
        assertThat(chunk.columnStart(chunk.schema().require("price"))).isPositive();
    }

    @Test
    void shouldWriteRowsWhoseFieldsHaveNamesOnly() throws Exception {
        TypeInformation<Row> type =
                Types.ROW_NAMED(new String[] {"id", "name"}, Types.LONG, Types.STRING);
        Row named = Row.withNames();
        named.setField("name", "by name");
        named.setField("id", 7L);

        Chunk chunk =
                encode(
                        layout(type, List.of("id", "name"), "id"),
                        List.of(Row.of(6L, "by position"), named, Row.of(null, "no key")));

        ChunkCursor row = new ChunkCursor(chunk.schema());
        assertThat(chunk.rowCount()).isEqualTo(2);
        assertThat(row.at(chunk, 0).getString("name")).isEqualTo("by position");
        assertThat(row.at(chunk, 1).getString("name")).isEqualTo("by name");
        assertThat(row.at(chunk, 1).getLong("id")).isEqualTo(7);
    }

    @Test
    void shouldWriteTuplesAndTimestamps() throws Exception {
        Chunk chunk =
                encode(
                        layout(Types.TUPLE(Types.SHORT, Types.STRING), List.of("f0", "f1"), "f0")
                                .withTimestamp(),
                        List.of(Tuple2.of((short) -5, "x"), Tuple2.of((short) 6, "y")));

        ChunkCursor row = new ChunkCursor(chunk.schema()).at(chunk, 1);
        assertThat(row.getInt("f0")).isEqualTo(6);
        assertThat(row.getString("f1")).isEqualTo("y");
        assertThat(row.getLong(RecordLayout.TIMESTAMP)).isEqualTo(1);
    }

    @Test
    void shouldTellKeysOfEveryWidth() throws Exception {
        List<String> keys = List.of("anInt", "aLong", "aShort", "aByte", "boxedInt", "boxedLong");
        RecordEncoder<AllKinds> encoder = layout(POJO, keys, keys.toArray(String[]::new)).encoder();
        AllKinds record = new AllKinds();
        record.anInt = Integer.MIN_VALUE;
        record.aLong = Long.MAX_VALUE;
        record.aShort = -3;
        record.aByte = -4;
        record.boxedInt = 5;
        record.boxedLong = Long.MIN_VALUE;

        assertThat(encoder.accept(record)).isTrue();
        assertThat(keys.stream().map(name -> encoder.key(record, keys.indexOf(name))))
                .containsExactly(
                        (long) Integer.MIN_VALUE, Long.MAX_VALUE, -3L, -4L, 5L, Long.MIN_VALUE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"boxedByte", "boxedShort"})
    void shouldReturnTheStoredKeyOfANarrowNull(String field) throws Exception {
        RecordLayout<AllKinds> layout =
                layout(POJO, List.of(field), field).keepingNullKeys(Map.of(field, 1));
        RecordEncoder<AllKinds> encoder = layout.encoder();
        ChunkBuilder builder = new ChunkBuilder(layout.schema(), 1 << 20);
        RecordEncoder.Target target = encoder.target(builder);
        AllKinds record = new AllKinds();
        List<Long> keys = new ArrayList<>();
        for (int row = 0; row < 1 << 16; row++) {
            assertThat(encoder.accept(record)).isTrue();
            keys.add(encoder.key(record, 0));
            encoder.encode(record, 0, target);
        }
        Chunk chunk = builder.seal(0, 0, 0, 0);
        for (int row = 0; row < chunk.rowCount(); row++) {
            assertThat(keys.get(row)).isEqualTo(chunk.getInt(0, row));
        }
    }

    @Test
    void shouldAskTheKeySelectorOnceForARecord() throws Exception {
        int[] calls = new int[1];
        RecordLayout<AllKinds> layout =
                RecordLayout.whole(
                        POJO,
                        SelectedKey.of(
                                record -> {
                                    calls[0]++;
                                    return record.boxedLong;
                                },
                                Types.LONG,
                                Nulls.MATCH_NOTHING),
                        new SerializerConfigImpl());
        RecordEncoder<AllKinds> encoder = layout.encoder();
        ChunkBuilder builder = new ChunkBuilder(layout.schema(), 4096);
        AllKinds record = new AllKinds();
        record.boxedLong = 42L;

        assertThat(encoder.accept(record)).isTrue();
        assertThat(encoder.key(record, 0)).isEqualTo(42);
        encoder.encode(record, 0, encoder.target(builder));
        assertThat(encoder.accept(new AllKinds())).isFalse();

        assertThat(calls[0]).isEqualTo(2);
        assertThat(builder.seal(0, 0, 0, 0).getLong(0, 0)).isEqualTo(42);
    }

    @Test
    void shouldTakeSubclassesUnlessTheirFieldsWouldBeLost() throws Exception {
        MoreKinds record = new MoreKinds();
        record.anInt = 3;
        Chunk chunk = encode(layout(POJO, List.of("anInt")), List.<AllKinds>of(record));
        RecordEncoder<AllKinds> whole =
                RecordLayout.whole(
                                POJO,
                                SelectedKey.of(r -> r.anInt, Types.INT, Nulls.MATCH_NOTHING),
                                new SerializerConfigImpl())
                        .encoder();

        assertThat(chunk.getInt(0, 0)).isEqualTo(3);
        assertThatThrownBy(() -> whole.accept(record))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Record of another class than its stream: class=")
                .hasMessageContaining("MoreKinds");
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void shouldRefuseARecordOfAnotherClass() {
        RecordEncoder encoder = layout(POJO, List.of("anInt")).encoder();

        assertThatThrownBy(() -> encoder.accept("text"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("class=java.lang.String");
        assertThatThrownBy(() -> encoder.accept(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("class=null");
    }

    @Test
    void shouldNameTheFieldOfARowThatIsNotOfItsType() {
        TypeInformation<Row> type = Types.ROW_NAMED(new String[] {"id"}, Types.LONG);

        assertThatThrownBy(() -> encode(layout(type, List.of("id")), List.of(Row.of("seven"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "Value of another type than its field: field=id, type=Long,"
                                + " class=java.lang.String");
    }

    @Test
    void shouldRefuseRowsThatAreTakenBack() {
        TypeInformation<Row> type = Types.ROW_NAMED(new String[] {"id"}, Types.LONG);

        assertThatThrownBy(
                        () ->
                                encode(
                                        layout(type, List.of("id")),
                                        List.of(Row.ofKind(RowKind.DELETE, 7L))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("kind=DELETE");
    }

    @Test
    void shouldRefuseToWriteIntoAFullChunk() throws Exception {
        RecordLayout<AllKinds> layout = layout(POJO, List.of("aLong"));
        RecordEncoder<AllKinds> encoder = layout.encoder();
        RecordEncoder.Target target = encoder.target(new ChunkBuilder(layout.schema(), 8));
        encoder.encode(new AllKinds(), 0, target);

        assertThatThrownBy(() -> encoder.encode(new AllKinds(), 0, target))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("The chunk is full and not sealed: capacityRows=1");
    }

    @Test
    void shouldRefuseABuilderOfAnotherSchema() {
        RecordLayout<AllKinds> layout = layout(POJO, List.of("aLong"));
        ChunkBuilder other = new ChunkBuilder(layout(POJO, List.of("anInt")).schema(), 64);

        assertThatThrownBy(() -> layout.encoder().target(other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The builder has another schema than the records");
    }
}
