package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.config.GpuJoinOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins of two streams of every kind, with a condition and without, as nested loops do. */
class GpuJoinITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final TypeInformation<Row> RECORD = Types.ROW(Types.INT, Types.INT);

    enum Kind {
        INNER,
        LEFT,
        SEMI,
        ANTI;

        boolean keepsProbe() {
            return this == LEFT || this == ANTI;
        }
    }

    private static int number(Row record) {
        return record.<Integer>getFieldAs(1);
    }

    private static List<Row> records(Random random, int count, int keys) {
        List<Row> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Integer key = random.nextInt(10) == 0 ? null : (Integer) random.nextInt(keys);
            records.add(Row.of(key, i));
        }
        return records;
    }

    @ParameterizedTest(name = "{0} conditioned={1} replicated={2} engine={3}")
    @CsvSource({
        "INNER, true, false, cpu",
        "LEFT, false, false, cpu",
        "LEFT, false, true, reference",
        "LEFT, true, false, cpu",
        "LEFT, true, true, gpu",
        "SEMI, false, false, gpu",
        "SEMI, true, false, cpu",
        "ANTI, false, true, cpu",
        "ANTI, true, false, reference",
        "ANTI, true, true, cpu"
    })
    void shouldJoinAsNestedLoopsDo(
            Kind kind, boolean conditioned, boolean replicated, String engine) throws Exception {
        Random random = new Random(kind.ordinal());
        List<Row> builds = records(random, 400, 150);
        List<Row> probes = records(random, 1_000, 200);
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        GpuJoin.Keyed<Row, Row> join =
                GpuJoin.build(env.fromData(builds, RECORD))
                        .probe(env.fromData(probes, RECORD))
                        .where(b -> b.<Integer>getFieldAs(0), Types.INT)
                        .equalTo(p -> p.<Integer>getFieldAs(0), Types.INT);
        switch (kind) {
            case INNER -> {}
            case LEFT -> join.left();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        }
        if (conditioned) {
            join.matching((b, p) -> (number(b) + number(p)) % 3 == 0);
        }
        if (replicated) {
            join.replicated();
        }
        List<String> actual = new ArrayList<>();
        try (CloseableIterator<String> rows =
                join.apply((JoinFunction<Row, Row, String>) (b, p) -> b + " " + p, Types.STRING)
                        .executeAndCollect()) {
            rows.forEachRemaining(actual::add);
        }
        assertThat(actual)
                .containsExactlyInAnyOrderElementsOf(expected(kind, conditioned, builds, probes));
    }

    private static List<String> expected(
            Kind kind, boolean conditioned, List<Row> builds, List<Row> probes) {
        List<String> results = new ArrayList<>();
        for (Row p : probes) {
            List<String> matches = new ArrayList<>();
            for (Row b : builds) {
                if (p.getField(0) != null
                        && p.getField(0).equals(b.getField(0))
                        && !(conditioned && (number(b) + number(p)) % 3 != 0)) {
                    matches.add(b + " " + p);
                }
            }
            if (kind == Kind.SEMI && !matches.isEmpty()) {
                results.add("null " + p);
            } else if (kind == Kind.INNER || kind == Kind.LEFT) {
                results.addAll(matches);
            }
            if (matches.isEmpty() && kind.keepsProbe()) {
                results.add("null " + p);
            }
        }
        return results;
    }
}
