// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * State holds the bytes of text keys and their hashes, as the packers of the release made them that
 * wrote it. Chunks of each release lie among the test resources; see {@code SavepointOfReleaseTest}
 * for how a release adds its own.
 */
class TextKeysOfReleaseTest {

    private static final Path FOLDER = Path.of("src", "test", "resources", "text-keys");

    /** A record with a key of two texts. */
    public static class Customer {
        public long id;
        public String region;
        public String name;

        public Customer() {}

        Customer(long id, String region, String name) {
            this.id = id;
            this.region = region;
            this.name = name;
        }
    }

    private static final TypeInformation<Customer> POJO = TypeInformation.of(Customer.class);
    private static final RowType ROW =
            RowType.of(
                    new LogicalType[] {
                        new BigIntType(),
                        new VarCharType(VarCharType.MAX_LENGTH),
                        new VarCharType(VarCharType.MAX_LENGTH)
                    },
                    new String[] {"id", "region", "name"});

    private static List<Customer> customers() {
        List<String> texts = new ArrayList<>();
        texts.add(null);
        texts.addAll(
                List.of(
                        "",
                        "a",
                        "a\u0000",
                        "customer-0000017",
                        "caf\u00e9",
                        "\u8a9e\ud83d\ude00",
                        "long ".repeat(60)));
        List<Customer> customers = new ArrayList<>();
        for (String region : texts) {
            for (String name : texts) {
                customers.add(new Customer(customers.size(), region, name));
            }
        }
        return customers;
    }

    private static <T> RecordLayout<T> layout(TypeInformation<T> type) {
        ColumnsKey<T> columns = new ColumnsKey<>(type, List.of("region", "name"));
        SelectedKey<T, Row> key =
                SelectedKey.of(columns, columns.keyType(), KeyLayout.Nulls.MATCH_NULLS);
        return RecordLayout.of(type, List.of("id", "name"), List.of(), new SerializerConfigImpl())
                .withKeys(List.of(KeyColumn.of(columns.columns(), key, false)));
    }

    private static <T> Chunk pack(RecordLayout<T> layout, List<T> records) throws Exception {
        List<Chunk> chunks =
                PackedRecords.pack(
                        layout, 1 << 20, 0, false, records.stream().map(StreamRecord::new));
        assertThat(chunks).hasSize(1);
        return chunks.get(0);
    }

    private static RowData row(Customer customer) {
        return new RowDataSerializer(ROW)
                .toBinaryRow(
                        GenericRowData.of(
                                customer.id,
                                StringData.fromString(customer.region),
                                StringData.fromString(customer.name)))
                .copy();
    }

    /** The hash and the bytes of each row's key. */
    private static List<String> keys(Chunk chunk) {
        ChunkCursor cursor = new ChunkCursor(chunk.schema());
        List<String> keys = new ArrayList<>();
        for (int row = 0; row < chunk.rowCount(); row++) {
            cursor.at(chunk, row);
            keys.add(cursor.getLong(0) + " " + HexFormat.of().formatHex(cursor.getBytes(1)));
        }
        return keys;
    }

    @ParameterizedTest
    @ValueSource(strings = "0.1.0")
    void shouldMakeTheKeysThatStateOfEveryReleaseHolds(String release) throws Exception {
        Chunk saved =
                Chunk.wrap(
                        layout(POJO).schema(),
                        Files.readAllBytes(FOLDER.resolve(release + ".chunk")));

        assertThat(keys(pack(layout(POJO), customers())))
                .hasSize(customers().size())
                .doesNotHaveDuplicates()
                .isEqualTo(keys(saved));
        assertThat(
                        keys(
                                pack(
                                        layout(InternalTypeInfo.<RowData>of(ROW)),
                                        customers().stream()
                                                .map(TextKeysOfReleaseTest::row)
                                                .toList())))
                .isEqualTo(keys(saved));
    }

    @Test
    @EnabledIfSystemProperty(named = "gpu-join.write-savepoints", matches = ".+")
    void shouldWriteTheKeysOfThisRelease() throws Exception {
        String release = System.getProperty("gpu-join.write-savepoints");
        Files.createDirectories(FOLDER);
        Files.write(FOLDER.resolve(release + ".chunk"), pack(layout(POJO), customers()).bytes());
    }
}
