// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batches of records with texts, keys that are computed, and other objects. */
class ObjectBatchTest {

    /** A record with fields that are objects. */
    public static class Order {
        public long id;
        public String region;
        public String name;
        public Integer pieces;
        public byte[] image;
        public BigDecimal price;

        static Order random(Random random, int number) {
            Order order = new Order();
            order.id = number;
            order.region = random.nextInt(8) == 0 ? null : "region-" + random.nextInt(5);
            order.name = random.nextBoolean() ? "name" + random.nextInt(5) : "\u8a9e\ud83d\ude00";
            order.pieces = random.nextBoolean() ? random.nextInt() : null;
            order.image = random.nextBoolean() ? new byte[random.nextInt(40)] : null;
            order.price = random.nextBoolean() ? BigDecimal.valueOf(random.nextInt(), 2) : null;
            return order;
        }
    }

    private static final TypeInformation<Order> TYPE = TypeInformation.of(Order.class);

    private static RecordLayout<Order> layout(KeyLayout.Nulls nulls) {
        ColumnsKey<Order> columns = new ColumnsKey<>(TYPE, List.of("region", "name"));
        SelectedKey<Order, Row> key = SelectedKey.of(columns, columns.keyType(), nulls);
        return RecordLayout.of(
                        TYPE,
                        List.of("id", "name", "pieces", "image", "price"),
                        List.of(),
                        new SerializerConfigImpl())
                .withKeys(List.of(KeyColumn.of(columns.columns(), key, true)))
                .withTimestamp();
    }

    private static List<Chunk> pack(
            RecordLayout<Order> layout, int partitions, boolean reuse, List<Order> orders)
            throws Exception {
        PackSpec packing =
                PackSpec.unpartitioned(
                        "orders", ChunkDescriptor.FACTS, 4096, Duration.ofMillis(100));
        if (partitions > 0) {
            packing = packing.partitionedBy(0, partitions);
        }
        var harness =
                new OneInputStreamOperatorTestHarness<Order, Chunk>(
                        new PackOperator<>(layout, null, packing));
        try (harness) {
            if (reuse) {
                harness.getExecutionConfig().enableObjectReuse();
            }
            harness.setup(ChunkTypeInfo.of(layout.schema()).createSerializer(null));
            harness.open();
            for (Order order : orders) {
                harness.processElement(new StreamRecord<>(order, 1000 + order.id));
            }
            harness.endInput();
            return harness.extractOutputValues();
        }
    }

    private static List<Order> orders(long seed, int count) {
        Random random = new Random(seed);
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            orders.add(Order.random(random, i));
        }
        return orders;
    }

    /** All values but the row's number, which is random. */
    private static List<String> rows(RecordLayout<Order> layout, List<Chunk> chunks) {
        int number = layout.schema().require(KeyColumn.ROW_NAME);
        List<String> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                StringBuilder values = new StringBuilder();
                for (int column = 0; column < layout.schema().size(); column++) {
                    if (layout.schema().column(column).isFixed() && column != number) {
                        values.append(chunk.getLong(column, row)).append(' ');
                    }
                }
                long start = chunk.variableWidthStart(row) - Memory.BYTES;
                long end = chunk.variableWidthEnd(row) - Memory.BYTES;
                byte[] bytes = Arrays.copyOfRange(chunk.array(), (int) start, (int) end);
                rows.add(values + new String(bytes, StandardCharsets.ISO_8859_1));
            }
        }
        return rows;
    }

    @ParameterizedTest
    @CsvSource({
        "1,0,MATCH_NOTHING",
        "2,0,MATCH_NULLS",
        "3,4,MATCH_NOTHING",
        "4,128,MATCH_NULLS",
        "5,128,MATCH_NOTHING"
    })
    void shouldWriteTheRowsThatRecordsMakeOneByOne(long seed, int partitions, KeyLayout.Nulls nulls)
            throws Exception {
        RecordLayout<Order> layout = layout(nulls);
        List<Order> orders = orders(seed, 5000);

        List<Chunk> batched = pack(layout, partitions, false, orders);
        List<Chunk> single = pack(layout, partitions, true, orders);

        if (partitions == 0) {
            assertThat(rows(layout, batched)).isEqualTo(rows(layout, single));
        } else {
            assertThat(rows(layout, batched))
                    .containsExactlyInAnyOrderElementsOf(rows(layout, single));
        }
    }

    @Test
    void shouldNumberEveryRowOnce() throws Exception {
        RecordLayout<Order> layout = layout(KeyLayout.Nulls.MATCH_NOTHING);
        int number = layout.schema().require(KeyColumn.ROW_NAME);
        Set<Long> numbers = new HashSet<>();
        int rows = 0;
        for (Chunk chunk : pack(layout, 0, false, orders(9, 3000))) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                numbers.add(chunk.getLong(number, row));
                rows++;
            }
        }

        assertThat(rows).isGreaterThan(2000);
        assertThat(numbers).hasSize(rows);
    }
}
