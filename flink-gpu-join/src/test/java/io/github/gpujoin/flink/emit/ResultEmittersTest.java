package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.pack.AllKinds;
import io.github.gpujoin.flink.pack.RecordField;
import io.github.gpujoin.flink.pack.RecordLayout;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Facts are POJOs of every kind of field; the dimension of Rows has an int key for the facts' long
 * one, the semi join's the other way round.
 */
class ResultEmittersTest {

    private static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);
    private static final SerializerConfigImpl CONFIG = new SerializerConfigImpl();
    private static final int KEYS = 20;

    private static final RowTypeInfo CITY =
            new RowTypeInfo(
                    new TypeInformation<?>[] {
                        Types.INT, Types.STRING, Types.DOUBLE, Types.BOOLEAN, Types.INSTANT
                    },
                    new String[] {"c_key", "c_name", "c_size", "c_open", "c_since"});
    private static final TypeInformation<Row> DAY =
            Types.ROW_NAMED(new String[] {"d_key"}, Types.LONG);

    private static final List<String> ALL = List.of(((PojoTypeInfo<?>) POJO).getFieldNames());

    private static final RecordLayout<AllKinds> FACTS =
            RecordLayout.of(POJO, ALL, List.of("boxedLong", "anInt"), CONFIG).withTimestamp();
    private static final RecordLayout<Row> CITIES =
            RecordLayout.of(CITY, List.of(CITY.getFieldNames()), List.of("c_key"), CONFIG);
    private static final RecordLayout<Row> DAYS =
            RecordLayout.of(DAY, List.of("d_key"), List.of("d_key"), CONFIG);

    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS.schema(),
                    List.of(
                            new DimensionSpec(
                                    "city",
                                    CITIES.schema(),
                                    0,
                                    FACTS.schema().require("boxedLong"),
                                    JoinKind.INNER),
                            new DimensionSpec(
                                    "day",
                                    DAYS.schema(),
                                    0,
                                    FACTS.schema().require("anInt"),
                                    JoinKind.SEMI)));

    private long openRegions;

    @BeforeEach
    void countRegions() {
        openRegions = Region.openCount();
    }

    @AfterEach
    void shouldLeaveNoRegionOpen() {
        assertThat(Region.openCount()).isEqualTo(openRegions);
    }

    private record Data(List<AllKinds> facts, List<Row> cities, List<Row> days) {

        static Data random(Random random) {
            List<AllKinds> facts = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                facts.add(AllKinds.random(random, KEYS));
            }
            List<Row> cities = new ArrayList<>();
            for (int i = 0; i < 25; i++) {
                Object[] fields = {
                    random.nextInt(KEYS),
                    AllKinds.text(random),
                    random.nextDouble(),
                    random.nextBoolean(),
                    Instant.ofEpochSecond(random.nextInt())
                };
                for (int field = 0; field < fields.length; field++) {
                    fields[field] = random.nextInt(6) == 0 ? null : fields[field];
                }
                cities.add(Row.of(fields));
            }
            List<Row> days = new ArrayList<>();
            for (int i = 0; i < 15; i++) {
                days.add(Row.of((long) random.nextInt(KEYS)));
            }
            return new Data(facts, cities, days);
        }

        /** A fact's number and the city it met. */
        private record Match(int fact, AllKinds record, Row city) {}

        List<Match> matches() {
            List<Match> matches = new ArrayList<>();
            for (int i = 0; i < facts.size(); i++) {
                AllKinds fact = facts.get(i);
                if (days.stream().noneMatch(d -> d.<Long>getFieldAs(0) == fact.anInt)) {
                    continue;
                }
                for (Row city : cities) {
                    Integer key = city.getFieldAs(0);
                    if (key != null && fact.boxedLong != null && key == (long) fact.boxedLong) {
                        matches.add(new Match(i, fact, city));
                    }
                }
            }
            return matches;
        }
    }

    private static <OUT> List<StreamRecord<OUT>> emitted(
            Data data, ResultEmitterFactory<OUT> factory, Random random) throws Exception {
        return EmitterRun.join(
                SPEC,
                List.of(
                        EmitterRun.pack(CITIES, data.cities, 0),
                        EmitterRun.pack(DAYS, data.days, 1)),
                EmitterRun.pack(FACTS, data.facts, -1),
                // The operator gets its factory by serialisation too.
                InstantiationUtil.clone(factory),
                random);
    }

    private static OutputField fact(String name) {
        return OutputField.ofFact(FACTS.schema().require(name), FACTS.field(name));
    }

    private static OutputField city(String name) {
        return OutputField.ofDimension(0, CITIES.schema().require(name), CITIES.field(name));
    }

    private static ResultColumns columns(List<String> facts, List<String> cities) {
        List<OutputField> fields = new ArrayList<>();
        facts.forEach(name -> fields.add(fact(name)));
        cities.forEach(name -> fields.add(city(name)));
        return ResultColumns.of(SPEC, fields);
    }

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
                        .map(m -> fields(m.record, m.city, m.fact % 5 == 0 ? null : (long) m.fact))
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
                emitted(data, ResultEmitters.pojos(columns(ALL, List.of()), POJO), random);

        // The reference engine keeps the order of the facts.
        List<AllKinds> expected = data.matches().stream().map(m -> m.record).toList();
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
                        ResultEmitters.pojos(
                                columns(List.of("aShort", "aLong"), List.of("c_size", "c_name")),
                                TypeInformation.of(Summary.class)),
                        random);

        assertThat(EmitterRun.values(elements))
                .containsExactlyInAnyOrderElementsOf(
                        data.matches().stream()
                                .map(
                                        m ->
                                                new Summary(
                                                        m.city.getFieldAs(1),
                                                        m.record.aLong,
                                                        m.city.getFieldAs(2),
                                                        0,
                                                        m.record.aShort))
                                .toList());
    }

    @ParameterizedTest(name = "chunks of {0} bytes")
    @ValueSource(ints = {1, 100, 5000, 1 << 20})
    void shouldGatherChunksOfFixedAndCarriedColumns(int chunkBytes) throws Exception {
        Random random = new Random(chunkBytes);
        Data data = Data.random(random);
        ResultColumns columns =
                columns(
                        List.of("aLong", "text", "anInt", "aDouble"),
                        List.of("c_name", "c_key", "c_size"));

        List<StreamRecord<Chunk>> elements =
                emitted(data, ResultEmitters.chunks(columns, chunkBytes), random);

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
                                                        m.record.aLong,
                                                        m.record.text,
                                                        (Object) m.record.anInt,
                                                        Double.doubleToLongBits(m.record.aDouble),
                                                        m.city.getField(1),
                                                        m.city.getField(0),
                                                        m.city.getField(2)))
                                .toList());
        assertThat(EmitterRun.values(elements))
                .isSortedAccordingTo(Comparator.comparing(Chunk::sequence));
    }

    @Test
    void shouldGatherChunksOfFixedColumnsOnly() throws Exception {
        Random random = new Random(11);
        Data data = Data.random(random);
        ResultColumns columns = columns(List.of("aLong", "aFloat"), List.of("c_key"));

        List<StreamRecord<Chunk>> elements =
                emitted(data, ResultEmitters.chunks(columns, 64), random);

        List<Long> longs = new ArrayList<>();
        List<Integer> keys = new ArrayList<>();
        for (Chunk chunk : EmitterRun.values(elements)) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                longs.add(chunk.getLong(0, row));
                keys.add(chunk.getInt(2, row));
            }
        }
        assertThat(longs).isEqualTo(data.matches().stream().map(m -> m.record.aLong).toList());
        assertThat(keys)
                .isEqualTo(
                        data.matches().stream().map(m -> m.record.boxedLong.intValue()).toList());
    }

    @Test
    void shouldDecodeTheTextOfABuildRowOnce() throws Exception {
        Random random = new Random(12);
        Data data = Data.random(random);
        Row city = Row.of(3, "the one city", 1.0, true, null);

        List<StreamRecord<Row>> elements =
                emitted(
                        new Data(data.facts, List.of(city), data.days),
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
                                        ResultEmitters.pojos(
                                                columns, TypeInformation.of(Size.class)),
                                        random))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a null has no place in a primitive field: field=")
                .hasMessageContaining("c_size");
    }

    /** Has a field of another type than the column. */
    public static class WrongSize {
        public Integer c_size;
    }

    @Test
    void shouldRefuseAPojoThatDoesNotFitWhenTheJobIsPutTogether() {
        ResultColumns columns = columns(List.of("aLong"), List.of("c_size"));

        assertThatThrownBy(() -> ResultEmitters.pojos(columns, TypeInformation.of(WrongSize.class)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "every result column is a field of the POJO: column=aLong,"
                                + " fields=[c_size], class=");
        assertThatThrownBy(
                        () ->
                                ResultEmitters.pojos(
                                        columns(List.of(), List.of("c_size")),
                                        TypeInformation.of(WrongSize.class)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "a result column and its field have one type: column=c_size,"
                                + " columnType=Double, fieldType=Integer");
        assertThatThrownBy(() -> ResultEmitters.pojos(columns, Types.STRING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the class is a POJO by Flink's rules");
    }

    @Test
    void shouldRefuseColumnsThatResultsDoNotHold() {
        RecordField key = DAYS.field("d_key");

        assertThatThrownBy(
                        () -> ResultColumns.of(SPEC, List.of(OutputField.ofDimension(1, 0, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a semi join gives no columns of its dimension");
        assertThatThrownBy(
                        () -> ResultColumns.of(SPEC, List.of(OutputField.ofDimension(2, 0, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a result column is of a side of the join");
        assertThatThrownBy(() -> ResultColumns.of(SPEC, List.of(OutputField.ofFact(99, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a result column is a column of its side");
        assertThatThrownBy(
                        () ->
                                ResultColumns.of(
                                        SPEC,
                                        List.of(
                                                OutputField.ofFact(
                                                        FACTS.schema().require("anInt"), key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a result column is read as what it is");
        assertThatThrownBy(() -> ResultColumns.of(SPEC, List.of(fact("text"), fact("text"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("text");
    }
}
