// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.base.BigDecSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A packer of records with texts, keys that are computed, and other objects. */
class ObjectRecordPackTest {

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
        return PackedRecords.pack(
                layout,
                4096,
                partitions,
                reuse,
                orders.stream().map(order -> new StreamRecord<>(order, 1000 + order.id)));
    }

    private static List<Order> orders(long seed, int count) {
        Random random = new Random(seed);
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            orders.add(Order.random(random, i));
        }
        return orders;
    }

    /** Rows as lists of values but the row's number, which is random. */
    private static List<List<Object>> rows(RecordLayout<Order> layout, List<Chunk> chunks) {
        ChunkCursor cursor = new ChunkCursor(layout.schema());
        List<List<Object>> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                cursor.at(chunk, row);
                rows.add(
                        Arrays.asList(
                                cursor.getLong(0),
                                hex(cursor.getBytes(1)),
                                cursor.getLong("id"),
                                cursor.getString("name"),
                                cursor.isNull("pieces") ? null : (int) cursor.getLong("pieces"),
                                hex(cursor.getBytes("image")),
                                price(cursor.getBytes("price")),
                                cursor.getLong(RecordLayout.TIMESTAMP)));
            }
        }
        return rows;
    }

    private static @Nullable String hex(byte @Nullable [] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    private static @Nullable BigDecimal price(byte @Nullable [] bytes) {
        try {
            return bytes == null
                    ? null
                    : BigDecSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<List<Object>> expectedRows(List<Order> orders, KeyLayout.Nulls nulls) {
        List<List<Object>> rows = new ArrayList<>();
        for (Order order : orders) {
            if (order.region == null && nulls == KeyLayout.Nulls.MATCH_NOTHING) {
                continue;
            }
            byte[] key = concat(canonical(order.region), canonical(order.name));
            rows.add(
                    Arrays.asList(
                            KeyHash.hash(key, key.length),
                            hex(key),
                            order.id,
                            order.name,
                            order.pieces,
                            hex(order.image),
                            order.price,
                            1000 + order.id));
        }
        return rows;
    }

    /** Whether the text is null, its number of UTF-16 code units, and these. */
    private static byte[] canonical(@Nullable String text) {
        if (text == null) {
            return new byte[] {1};
        }
        byte[] units = text.getBytes(StandardCharsets.UTF_16BE);
        return concat(
                concat(new byte[1], ByteBuffer.allocate(4).putInt(text.length()).array()), units);
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    @ParameterizedTest
    @CsvSource({
        "1,0,MATCH_NOTHING,false",
        "2,0,MATCH_NULLS,true",
        "3,4,MATCH_NOTHING,true",
        "4,128,MATCH_NULLS,false",
        "5,128,MATCH_NOTHING,true"
    })
    void shouldWriteTheKeyAndTheSelectedColumnsOfEachRecord(
            long seed, int partitions, KeyLayout.Nulls nulls, boolean reuse) throws Exception {
        RecordLayout<Order> layout = layout(nulls);
        List<Order> orders = orders(seed, 5000);

        List<List<Object>> packed = rows(layout, pack(layout, partitions, reuse, orders));

        List<List<Object>> expected = expectedRows(orders, nulls);
        if (partitions == 0) {
            assertThat(packed).isEqualTo(expected);
        } else {
            assertThat(packed).containsExactlyInAnyOrderElementsOf(expected);
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
