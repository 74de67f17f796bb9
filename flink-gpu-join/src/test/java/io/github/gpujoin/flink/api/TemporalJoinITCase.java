// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.SalesData.collect;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Versioned dimensions against Flink's own temporal join ({@code FOR SYSTEM_TIME AS OF}) on random
 * changelogs that are out of order, but not late. Drawn from the seed in the test's display name.
 */
@ExtendWith(RegionLeakExtension.class)
class TemporalJoinITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final int KEYS = 30;

    /** How far rows are out of order, in ms. */
    private static final long DISORDER_MS = 50;

    private static final String[] FACT = {"id", "number", "at"};
    private static final String[] VERSION = {"id", "name", "at"};

    @ParameterizedTest(name = "seed={0} engine={1} left={2} transport={3}")
    @CsvSource({
        "1,cpu,false,flink",
        "2,cpu,true,flink",
        "3,reference,true,flink",
        "4,auto,false,flink",
        "5,cpu,false,shm"
    })
    void shouldGiveWhatFlinksTemporalJoinGives(
            long seed, String engine, boolean left, String transport) throws Exception {
        List<Row> facts = facts(seed);
        List<Row> versions = versions(seed);
        List<String> ours = ours(facts, versions, engine, left, transport);
        assertThat(ours).hasSizeGreaterThan(500).isEqualTo(flinks(facts, versions, left));
    }

    private static List<Row> facts(long seed) {
        Random random = new Random(seed);
        List<Row> facts = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            facts.add(Row.of(random.nextInt(KEYS + 3), i, i + (long) random.nextInt(50)));
        }
        return facts;
    }

    /** Changes of one key are 100 ms apart at least, so their order is that of their times. */
    private static List<Row> versions(long seed) {
        Random random = new Random(-seed);
        Map<Integer, Row> rows = new HashMap<>();
        Map<Integer, Long> changedAt = new HashMap<>();
        List<Row> changes = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            int id = random.nextInt(KEYS);
            if (i - changedAt.getOrDefault(id, -1_000L) < 2 * DISORDER_MS) {
                continue;
            }
            changedAt.put(id, (long) i);
            long at = i + (long) random.nextInt((int) DISORDER_MS);
            Row old = rows.get(id);
            if (old != null && random.nextInt(3) == 0) {
                rows.remove(id);
                changes.add(Row.ofKind(RowKind.DELETE, id, old.getField(1), at));
                continue;
            }
            if (old != null) {
                changes.add(Row.ofKind(RowKind.UPDATE_BEFORE, id, old.getField(1), at));
            }
            RowKind kind = old == null ? RowKind.INSERT : RowKind.UPDATE_AFTER;
            Row row = Row.ofKind(kind, id, "version " + i, at);
            rows.put(id, row);
            changes.add(row);
        }
        return changes;
    }

    private static StreamExecutionEnvironment environment(String engine) {
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        return env;
    }

    /** A watermark with every row, just behind those that may still come. */
    private static DataStream<Row> stream(
            StreamExecutionEnvironment env, List<Row> rows, boolean areFacts) {
        return env.fromData(
                        rows,
                        areFacts
                                ? Types.ROW_NAMED(FACT, Types.INT, Types.INT, Types.LONG)
                                : Types.ROW_NAMED(VERSION, Types.INT, Types.STRING, Types.LONG))
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Row>forGenerator(context -> new EveryRow())
                                .withTimestampAssigner((row, before) -> row.<Long>getFieldAs(2)));
    }

    private static final class EveryRow implements WatermarkGenerator<Row> {
        private long largest = Long.MIN_VALUE + DISORDER_MS + 1;

        @Override
        public void onEvent(Row row, long timestamp, WatermarkOutput output) {
            largest = Math.max(largest, timestamp);
            output.emitWatermark(new Watermark(largest - DISORDER_MS - 1));
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    private static List<String> ours(
            List<Row> facts, List<Row> versions, String engine, boolean left, String transport)
            throws Exception {
        StreamExecutionEnvironment env = environment(engine);
        env.configure(
                new Configuration()
                        .set(GpuJoinOptions.TRANSPORT, transport)
                        .set(GpuJoinOptions.RING_OPEN_TIMEOUT, Duration.ofMinutes(1)));
        StarJoin<Row> join =
                StarJoin.of(stream(env, facts, true))
                        .select("number")
                        .dimension(
                                stream(env, versions, false),
                                d -> {
                                    d.on("id", "id").select("name").versioned();
                                    if (left) {
                                        d.left();
                                    }
                                });
        return collect(join.toRows());
    }

    private static List<String> flinks(List<Row> facts, List<Row> versions, boolean left)
            throws Exception {
        StreamExecutionEnvironment env = environment("cpu");
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.getConfig().setIdleStateRetention(Duration.ZERO);
        tables.createTemporaryView(
                "facts",
                tables.fromDataStream(
                        stream(env, facts, true),
                        Schema.newBuilder()
                                .column("id", "INT")
                                .column("number", "INT")
                                .columnByMetadata("rowtime", "TIMESTAMP_LTZ(3)")
                                .watermark("rowtime", "SOURCE_WATERMARK()")
                                .build()));
        tables.createTemporaryView(
                "versions",
                tables.fromChangelogStream(
                        stream(env, versions, false),
                        Schema.newBuilder()
                                .column("id", "INT NOT NULL")
                                .column("name", "STRING")
                                .columnByMetadata("rowtime", "TIMESTAMP_LTZ(3)")
                                .watermark("rowtime", "SOURCE_WATERMARK()")
                                .primaryKey("id")
                                .build(),
                        ChangelogMode.all()));
        return collect(
                tables.toDataStream(
                        tables.sqlQuery(
                                "SELECT f.number, v.name FROM facts AS f "
                                        + (left ? "LEFT " : "")
                                        + "JOIN versions FOR SYSTEM_TIME AS OF f.rowtime AS v"
                                        + " ON f.id = v.id")));
    }
}
