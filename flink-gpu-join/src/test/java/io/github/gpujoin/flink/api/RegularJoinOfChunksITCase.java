// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regular joins of columnar chunks. */
class RegularJoinOfChunksITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final ChunkSchema ORDERS =
            ChunkSchema.of(
                    Column.nullable("customer", ColumnType.INT32),
                    Column.of("price", ColumnType.FLOAT64),
                    Column.nullable("note", ColumnType.STRING),
                    Column.of("id", ColumnType.INT64));

    private static final ChunkSchema CUSTOMERS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("level", ColumnType.INT16),
                    Column.nullable("city", ColumnType.STRING),
                    Column.of("row_kind", ColumnType.INT32));

    private static final int INSERT = 0;
    private static final int UPDATE_BEFORE = 1;
    private static final int UPDATE_AFTER = 2;
    private static final int DELETE = 3;

    private static final int CUSTOMER_COUNT = 50;

    private static List<Chunk> orders(Random random, int count) {
        List<Chunk> chunks = new ArrayList<>();
        ChunkBuilder rows = new ChunkBuilder(ORDERS, 4 << 10);
        for (int id = 0; id < count; id++) {
            if (id % 9 == 0) {
                rows.addNull();
            } else {
                rows.addInt(random.nextInt(2 * CUSTOMER_COUNT));
            }
            rows.putDouble(1, id / 4.0);
            rows.addString("order " + id % 5);
            rows.putLong(3, id);
            rows.endRow();
            if (rows.isFull() || id == count - 1) {
                chunks.add(seal(rows));
            }
        }
        return chunks;
    }

    /** Customer c is updated, and deleted again if c is a multiple of 3. */
    private static List<Chunk> customers() {
        ChunkBuilder rows = new ChunkBuilder(CUSTOMERS, 64 << 10);
        for (int customer = 0; customer < CUSTOMER_COUNT; customer++) {
            addCustomer(rows, customer, 1, INSERT);
            addCustomer(rows, customer, 1, UPDATE_BEFORE);
            addCustomer(rows, customer, 2, UPDATE_AFTER);
            if (customer % 3 == 0) {
                addCustomer(rows, customer, 2, DELETE);
            }
        }
        return List.of(seal(rows));
    }

    private static void addCustomer(ChunkBuilder rows, int customer, int level, int kind) {
        rows.putLong(0, customer);
        rows.putInteger(1, level);
        if (customer % 4 == 0) {
            rows.addNull();
        } else {
            rows.addString("city " + customer);
        }
        rows.putInt(3, kind);
        rows.endRow();
    }

    private static Chunk seal(ChunkBuilder rows) {
        return rows.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        return env;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2})
    void shouldKeepOrdersWithoutACustomer(long seed) throws Exception {
        List<Chunk> orders = orders(new Random(seed), 2_000);
        StreamExecutionEnvironment env = environment();
        DataStream<Chunk> results =
                RegularJoin.ofChunks(
                                env.fromData(orders, ChunkTypeInfo.of(ORDERS)),
                                env.fromData(customers(), ChunkTypeInfo.of(CUSTOMERS)))
                        .on("customer", "id")
                        .left()
                        .rightChangelog("id")
                        .toStream();
        Map<String, Integer> expected = new TreeMap<>();
        ChunkCursor row = new ChunkCursor(ORDERS);
        for (Chunk chunk : orders) {
            for (int i = 0; i < chunk.rowCount(); i++) {
                row.at(chunk, i);
                int customer = row.isNull(0) ? -1 : row.getInt(0);
                boolean matches = customer >= 0 && customer < CUSTOMER_COUNT && customer % 3 != 0;
                String city = customer % 4 == 0 ? null : "city " + customer;
                expected.put(
                        "%s %s %s %s | %s"
                                .formatted(
                                        row.isNull(0) ? null : customer,
                                        row.getDouble(1),
                                        row.getString(2),
                                        row.getLong(3),
                                        matches ? customer + " 2 " + city : "null null null"),
                        1);
            }
        }
        assertThat(materialized(results)).as("seed=%d", seed).isEqualTo(expected);
    }

    private static Map<String, Integer> materialized(DataStream<Chunk> results) throws Exception {
        Map<String, Integer> rows = new TreeMap<>();
        try (CloseableIterator<Chunk> chunks = results.executeAndCollect()) {
            while (chunks.hasNext()) {
                Chunk chunk = chunks.next();
                ChunkSchema schema = chunk.schema();
                assertThat(schema.columns().stream().map(Column::name))
                        .containsExactly(
                                "customer",
                                "price",
                                "note",
                                "id",
                                "id0",
                                "level",
                                "city",
                                "row_kind");
                ChunkCursor row = new ChunkCursor(schema);
                for (int i = 0; i < chunk.rowCount(); i++) {
                    row.at(chunk, i);
                    int kind = row.getInt(7);
                    rows.merge(
                            "%s %s %s %s | %s %s %s"
                                    .formatted(
                                            row.isNull(0) ? null : row.getInt(0),
                                            row.getDouble(1),
                                            row.getString(2),
                                            row.getLong(3),
                                            row.isNull(4) ? null : row.getLong(4),
                                            row.isNull(5) ? null : row.getInt(5),
                                            row.getString(6)),
                            kind == INSERT || kind == UPDATE_AFTER ? 1 : -1,
                            Integer::sum);
                }
            }
        }
        rows.values().removeIf(count -> count == 0);
        return rows;
    }

    @Test
    void shouldReturnSelectedColumnsOfAnInnerJoin() throws Exception {
        StreamExecutionEnvironment env = environment();
        List<Chunk> orders = orders(new Random(3), 500);
        DataStream<Chunk> results =
                RegularJoin.ofChunks(
                                env.fromData(orders, ChunkTypeInfo.of(ORDERS)),
                                env.fromData(orders, ChunkTypeInfo.of(ORDERS)))
                        .on("id", "id")
                        .select(List.of("price"), List.of("note", "price"))
                        .toStream();
        int rows = 0;
        try (CloseableIterator<Chunk> chunks = results.executeAndCollect()) {
            while (chunks.hasNext()) {
                Chunk chunk = chunks.next();
                assertThat(chunk.schema())
                        .isEqualTo(
                                ChunkSchema.of(
                                        Column.of("price", ColumnType.FLOAT64),
                                        Column.nullable("note", ColumnType.STRING),
                                        Column.of("price0", ColumnType.FLOAT64)));
                ChunkCursor row = new ChunkCursor(chunk.schema());
                for (int i = 0; i < chunk.rowCount(); i++) {
                    row.at(chunk, i);
                    assertThat(row.getDouble(0)).isEqualTo(row.getDouble(2));
                    assertThat(row.getString(1))
                            .isEqualTo("order " + (int) (row.getDouble(0) * 4) % 5);
                    rows++;
                }
            }
        }
        assertThat(rows).isEqualTo(500);
    }

    @Test
    void shouldRefuseWhatChunksDoNotSupport() {
        StreamExecutionEnvironment env = environment();
        DataStream<Chunk> orders = env.fromData(orders(new Random(3), 1), ChunkTypeInfo.of(ORDERS));
        assertThatThrownBy(() -> RegularJoin.ofChunks(orders, orders).toStream())
                .hasMessageContaining("Add .on(leftColumn, rightColumn)");
        assertThatThrownBy(
                        () ->
                                RegularJoin.ofChunks(orders, orders)
                                        .on("id", "id")
                                        .matching((left, right) -> true)
                                        .toStream())
                .hasMessageContaining("Remove .matching(...)");
        assertThatThrownBy(
                        () ->
                                RegularJoin.ofChunks(orders, orders)
                                        .on("id", "id")
                                        .on("customer", "customer")
                                        .toStream())
                .hasMessageContaining("one integer column");
        assertThatThrownBy(() -> RegularJoin.ofChunks(orders, orders).on("note", "note").toStream())
                .hasMessageContaining("Unsupported type of a join key");
    }
}
