// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.pack.AllKinds;
import io.github.gpujoin.flink.record.RecordLayout;
import java.time.Instant;
import java.util.ArrayList;
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

/**
 * A star join for tests: facts are POJOs of every kind of field; the dimension of Rows has an int
 * key for the facts' long one, the semi join's the other way round.
 */
final class StarFixture {

    static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);
    static final SerializerConfigImpl CONFIG = new SerializerConfigImpl();
    static final int KEYS = 20;

    static final RowTypeInfo CITY =
            new RowTypeInfo(
                    new TypeInformation<?>[] {
                        Types.INT, Types.STRING, Types.DOUBLE, Types.BOOLEAN, Types.INSTANT
                    },
                    new String[] {"c_key", "c_name", "c_size", "c_open", "c_since"});
    static final TypeInformation<Row> DAY = Types.ROW_NAMED(new String[] {"d_key"}, Types.LONG);

    static final List<String> ALL = List.of(((PojoTypeInfo<?>) POJO).getFieldNames());

    static final RecordLayout<AllKinds> FACTS =
            RecordLayout.of(POJO, ALL, List.of("boxedLong", "anInt"), CONFIG).withTimestamp();
    static final RecordLayout<Row> CITIES =
            RecordLayout.of(CITY, List.of(CITY.getFieldNames()), List.of("c_key"), CONFIG);
    static final RecordLayout<Row> DAYS =
            RecordLayout.of(DAY, List.of("d_key"), List.of("d_key"), CONFIG);

    static final JoinSpec SPEC =
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

    private StarFixture() {}

    record Data(List<AllKinds> facts, List<Row> cities, List<Row> days) {

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
        record Match(int fact, AllKinds record, Row city) {}

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

    static <OUT> List<StreamRecord<OUT>> emitted(
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

    static OutputField fact(String name) {
        return OutputField.ofFact(FACTS.schema().require(name), FACTS.field(name));
    }

    static OutputField city(String name) {
        return OutputField.ofDimension(0, CITIES.schema().require(name), CITIES.field(name));
    }

    static ResultColumns columns(List<String> facts, List<String> cities) {
        List<OutputField> fields = new ArrayList<>();
        facts.forEach(name -> fields.add(fact(name)));
        cities.forEach(name -> fields.add(city(name)));
        return ResultColumns.of(SPEC, fields);
    }
}
