// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.pack.AllKinds;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichJoinFunction;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionEmitterTest {

    private static final TypeInformation<AllKinds> POJO = TypeInformation.of(AllKinds.class);
    private static final TypeInformation<Tuple2<Integer, String>> TUPLE =
            Types.TUPLE(Types.INT, Types.STRING);

    private static <T, K> RecordLayout<T> whole(
            TypeInformation<T> type, KeySelector<T, K> key, TypeInformation<K> keyType) {
        return RecordLayout.whole(
                type,
                SelectedKey.of(key, keyType, Nulls.MATCH_NOTHING),
                new SerializerConfigImpl());
    }

    private static JoinSpec spec(RecordLayout<?> build, RecordLayout<?> probe) {
        return new JoinSpec(
                probe.schema(),
                List.of(new DimensionSpec("build", build.schema(), 0, 0, JoinKind.INNER)));
    }

    private static List<AllKinds> pojos(Random random, int count) {
        List<AllKinds> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(AllKinds.random(random, 15));
        }
        return records;
    }

    private static List<Tuple2<Integer, String>> tuples(Random random, int count) {
        List<Tuple2<Integer, String>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(Tuple2.of(random.nextInt(15), AllKinds.text(random)));
        }
        return records;
    }

    private static <A, B> PairJoinSpec<A, B, Tuple2<A, B>> pairs() {
        return new PairJoinSpec<>(PairKind.INNER, null, null, Tuple2::of);
    }

    /** Pairs of records that both sides' keys bring together, by nested loops. */
    private static <A, B> List<Tuple2<A, B>> pairs(
            List<A> builds, KeySelector<A, ?> a, List<B> probes, KeySelector<B, ?> b)
            throws Exception {
        List<Tuple2<A, B>> pairs = new ArrayList<>();
        for (B probe : probes) {
            for (A build : builds) {
                Number left = (Number) a.getKey(build);
                Number right = (Number) b.getKey(probe);
                if (left != null && right != null && left.longValue() == right.longValue()) {
                    pairs.add(Tuple2.of(build, probe));
                }
            }
        }
        return pairs;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldRebuildWholeRecordsOfBothSides(long seed) throws Exception {
        Random random = new Random(seed);
        List<Tuple2<Integer, String>> builds = tuples(random, 40);
        List<AllKinds> probes = pojos(random, 100);
        KeySelector<AllKinds, Long> probeKey = r -> r.boxedLong;
        RecordLayout<Tuple2<Integer, String>> build = whole(TUPLE, t -> t.f0, Types.INT);
        RecordLayout<AllKinds> probe = whole(POJO, probeKey, Types.LONG).withTimestamp();

        List<StreamRecord<Tuple2<Tuple2<Integer, String>, AllKinds>>> out =
                EmitterRun.join(
                        spec(build, probe),
                        List.of(EmitterRun.pack(build, builds, 0)),
                        EmitterRun.pack(probe, probes, -1),
                        ResultEmitters.function(spec(build, probe), build, probe, pairs()),
                        random);

        assertThat(EmitterRun.values(out))
                .isNotEmpty()
                .usingRecursiveFieldByFieldElementComparator(EmitterRun.EXACTLY)
                .isEqualTo(pairs(builds, t -> t.f0, probes, probeKey));
        assertThat(out)
                .allSatisfy(
                        e -> {
                            int fact = indexOf(probes, e.getValue().f1);
                            assertThat(e.hasTimestamp()).isEqualTo(fact % 5 != 0);
                            if (e.hasTimestamp()) {
                                assertThat(e.getTimestamp()).isEqualTo(fact);
                            }
                        });
    }

    private static int indexOf(List<AllKinds> records, AllKinds record) {
        int index = 0;
        while (records.get(index).aLong != record.aLong) {
            index++;
        }
        return index;
    }

    @Test
    void shouldRebuildAPojoOfTheBuildSideAndAPlainValueOfTheOther() throws Exception {
        Random random = new Random(4);
        List<AllKinds> builds = pojos(random, 60);
        List<Long> probes = new ArrayList<>();
        random.longs(50, 0, 15).forEach(probes::add);
        KeySelector<AllKinds, Integer> buildKey = r -> r.anInt;
        RecordLayout<AllKinds> build = whole(POJO, buildKey, Types.INT);
        RecordLayout<Long> probe = whole(Types.LONG, l -> l, Types.LONG);

        List<StreamRecord<Tuple2<AllKinds, Long>>> out =
                EmitterRun.join(
                        spec(build, probe),
                        List.of(EmitterRun.pack(build, builds, 0)),
                        EmitterRun.pack(probe, probes, -1),
                        ResultEmitters.function(spec(build, probe), build, probe, pairs()),
                        random);

        assertThat(EmitterRun.values(out))
                .isNotEmpty()
                .usingRecursiveFieldByFieldElementComparator(EmitterRun.EXACTLY)
                .isEqualTo(pairs(builds, buildKey, probes, l -> l));
        assertThat(out).noneMatch(StreamRecord::hasTimestamp);
    }

    @ParameterizedTest(name = "condition {0}")
    @ValueSource(booleans = {false, true})
    void shouldNameAFunctionThatReturnsNull(boolean conditioned) {
        RecordLayout<Long> longs = whole(Types.LONG, l -> l, Types.LONG);
        PairJoinSpec<Long, Long, String> join =
                new PairJoinSpec<>(
                        PairKind.INNER,
                        null,
                        conditioned ? (build, probe) -> true : null,
                        (build, probe) -> null);

        assertThatThrownBy(
                        () ->
                                EmitterRun.join(
                                        spec(longs, longs),
                                        List.of(EmitterRun.pack(longs, List.of(1L, 2L), 0)),
                                        EmitterRun.pack(longs, List.of(2L), -1),
                                        ResultEmitters.function(
                                                spec(longs, longs), longs, longs, join),
                                        new Random(1)))
                .hasStackTraceContaining("of .apply(...) returned null. Return a record");
    }

    @ParameterizedTest(name = "condition {0}")
    @ValueSource(booleans = {false, true})
    void shouldGiveEachCallOfAFunctionRecordsThatItMayChange(boolean conditioned) throws Exception {
        TypeInformation<Tuple2<Integer, Integer>> type = Types.TUPLE(Types.INT, Types.INT);
        RecordLayout<Tuple2<Integer, Integer>> rate = whole(type, t -> t.f0, Types.INT);
        RecordLayout<Tuple2<Integer, Integer>> price = whole(type, t -> t.f0, Types.INT);
        JoinFunction<Tuple2<Integer, Integer>, Tuple2<Integer, Integer>, Boolean> isCheap =
                (r, p) -> p.f1 < 10;
        PairJoinSpec<Tuple2<Integer, Integer>, Tuple2<Integer, Integer>, Tuple2<Integer, Integer>>
                join =
                        new PairJoinSpec<>(
                                PairKind.INNER,
                                null,
                                conditioned ? isCheap : null,
                                (r, p) -> {
                                    p.f1 *= r.f1;
                                    return p;
                                });

        List<StreamRecord<Tuple2<Integer, Integer>>> out =
                EmitterRun.join(
                        spec(rate, price),
                        List.of(
                                EmitterRun.pack(
                                        rate,
                                        List.of(
                                                Tuple2.of(1, 20),
                                                Tuple2.of(1, 30),
                                                Tuple2.of(2, 5)),
                                        0)),
                        EmitterRun.pack(price, List.of(Tuple2.of(1, 7), Tuple2.of(2, 3)), -1),
                        ResultEmitters.function(spec(rate, price), rate, price, join),
                        new Random(6));

        assertThat(EmitterRun.values(out))
                .containsExactlyInAnyOrder(Tuple2.of(1, 140), Tuple2.of(1, 210), Tuple2.of(2, 15));
    }

    /** Notes its life cycle. */
    private static final class Noting extends RichJoinFunction<Long, Long, Long> {
        private static final List<String> CALLS = new ArrayList<>();

        @Override
        public void open(OpenContext context) {
            CALLS.add("open");
        }

        @Override
        public Long join(Long build, Long probe) {
            CALLS.add("join " + build + " " + probe);
            return build;
        }

        @Override
        public void close() {
            CALLS.add("close");
        }
    }

    @Test
    void shouldOpenAndCloseARichFunction() throws Exception {
        Noting.CALLS.clear();
        RecordLayout<Long> build = whole(Types.LONG, l -> l % 10, Types.LONG);
        RecordLayout<Long> probe = whole(Types.LONG, l -> l % 10, Types.LONG);

        EmitterRun.join(
                spec(build, probe),
                List.of(EmitterRun.pack(build, List.of(15L, 25L, 36L), 0)),
                EmitterRun.pack(probe, List.of(5L), -1),
                ResultEmitters.function(
                        spec(build, probe),
                        build,
                        probe,
                        new PairJoinSpec<>(PairKind.INNER, null, null, new Noting())),
                new Random(5));

        assertThat(Noting.CALLS).startsWith("open").endsWith("close").hasSize(4);
        assertThat(Noting.CALLS).contains("join 15 5", "join 25 5");
    }

    @Test
    void shouldRefuseLayoutsThatAreNotWholeOrOfAnotherJoin() {
        RecordLayout<Long> longs = whole(Types.LONG, l -> l, Types.LONG);
        RecordLayout<AllKinds> pojos = whole(POJO, r -> r.anInt, Types.INT);
        RecordLayout<AllKinds> part =
                RecordLayout.of(
                        POJO, List.of("anInt"), List.of("anInt"), new SerializerConfigImpl());

        assertThatThrownBy(() -> ResultEmitters.function(spec(longs, part), longs, part, pairs()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Schemas differ from the records of the join function");
        assertThatThrownBy(() -> ResultEmitters.function(spec(longs, longs), longs, pojos, pairs()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Schemas differ from the records of the join function");
    }
}
