// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkPackOperatorTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT32),
                    Column.nullable("name", ColumnType.STRING),
                    Column.of("key", ColumnType.INT64),
                    Column.nullable("maybe", ColumnType.INT64),
                    Column.of("price", ColumnType.FLOAT64),
                    Column.nullable("note", ColumnType.STRING));

    static final ChunkSchema FIXED =
            ChunkSchema.of(Column.of("id", ColumnType.INT32), Column.of("key", ColumnType.INT64));

    private ChunkPackOperator operator;

    static PackSpec packing(int chunkBytes) {
        return PackSpec.unpartitioned(
                "parts", ChunkDescriptor.FACTS, chunkBytes, Duration.ofMillis(100));
    }

    private OneInputStreamOperatorTestHarness<Chunk, Chunk> open(
            ChunkProjection projection, FilterFunction<RowView> filter, PackSpec packing)
            throws Exception {
        operator = new ChunkPackOperator(projection, filter, packing);
        OneInputStreamOperatorTestHarness<Chunk, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(operator);
        // A serializer that copies nothing, so that a test sees the very chunk.
        harness.setup(serializer(projection.schema()));
        harness.open();
        return harness;
    }

    static TypeSerializer<Chunk> serializer(ChunkSchema schema) {
        return ChunkTypeInfo.of(schema).createSerializer(null);
    }

    static ChunkProjection all(ChunkSchema schema, String... keys) {
        return ChunkProjection.of(
                schema, schema.columns().stream().map(Column::name).toList(), Arrays.asList(keys));
    }

    static Chunk fixedChunk(int rows, int dimension, long sequence) {
        ChunkBuilder builder = new ChunkBuilder(FIXED, 1 << 20);
        for (int row = 0; row < rows; row++) {
            builder.putInt(0, row);
            builder.putLong(1, 31L * row);
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, sequence);
    }

    private static Chunk randomChunk(Random random, int rows, int firstId) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 20);
        for (int row = 0; row < rows; row++) {
            builder.putInt(0, firstId + row);
            addText(builder, random);
            builder.putLong(2, random.nextBoolean() ? random.nextInt(10) : random.nextLong());
            if (random.nextInt(4) == 0) {
                builder.addNull();
            } else {
                builder.addLong(random.nextInt(50) - 25);
            }
            builder.putDouble(4, random.nextGaussian());
            addText(builder, random);
            builder.endRow();
        }
        return builder.seal(9, 9, 9, 9);
    }

    private static void addText(ChunkBuilder builder, Random random) {
        if (random.nextInt(5) == 0) {
            builder.addNull();
        } else {
            builder.addString(AllKinds.text(random));
        }
    }

    @Test
    void shouldPassAChunkWithTheRightHeaderThroughAsItIs() throws Exception {
        try (var harness = open(all(FIXED, "key"), null, packing(1 << 16))) {
            Chunk first = fixedChunk(5, ChunkDescriptor.FACTS, 0);
            Chunk second = fixedChunk(3, ChunkDescriptor.FACTS, 77);
            harness.processElement(new StreamRecord<>(first));
            harness.processElement(new StreamRecord<>(second));

            assertThat(harness.extractOutputValues()).hasSize(2);
            assertThat(harness.extractOutputValues().get(0)).isSameAs(first);
            assertThat(harness.extractOutputValues().get(1)).isSameAs(second);
        }
    }

    @Test
    void shouldOnlyRewriteTheHeaderWhereThereIsNothingElseToDo() throws Exception {
        try (var harness = open(all(FIXED, "key"), null, packing(1 << 16))) {
            Chunk chunk = fixedChunk(5, 4, 77);
            byte[] before = chunk.bytes().clone();
            harness.processElement(new StreamRecord<>(chunk));
            harness.processElement(new StreamRecord<>(chunk));

            List<Chunk> out = harness.extractOutputValues();
            assertThat(out).extracting(Chunk::dimension).containsOnly(ChunkDescriptor.FACTS);
            assertThat(out).extracting(Chunk::sequence).containsExactly(0L, 1L);
            int header = ChunkDescriptor.HEADER_BYTES;
            for (Chunk rewritten : out) {
                assertThat(Arrays.copyOfRange(rewritten.bytes(), header, before.length))
                        .isEqualTo(Arrays.copyOfRange(before, header, before.length));
                assertThat(Chunk.wrap(FIXED, rewritten.bytes()).rowCount()).isEqualTo(5);
            }
            assertThat(chunk.bytes()).isEqualTo(before);
        }
    }

    @Test
    void shouldDropEmptyChunks() throws Exception {
        try (var harness = open(all(FIXED, "key"), null, packing(1 << 16))) {
            harness.processElement(new StreamRecord<>(fixedChunk(0, 0, 0)));
            harness.endInput();

            assertThat(harness.getOutput()).isEmpty();
        }
    }

    @Test
    void shouldEmitNothingWhereTheFilterKeepsNothing() throws Exception {
        try (var harness = open(all(FIXED, "key"), row -> false, packing(1 << 16))) {
            harness.processElement(new StreamRecord<>(fixedChunk(10, 0, 0)));
            harness.endInput();
            harness.endInput();

            assertThat(harness.getOutput()).isEmpty();
            assertThat(operator.rowsFiltered.getCount()).isEqualTo(10);
        }
    }

    @ParameterizedTest(name = "seed {0}, {1} partitions, {2} bytes a chunk")
    @CsvSource({"1,0,4096", "2,0,1", "3,1,500", "4,7,300", "5,128,4096", "6,128,1", "7,3,100000"})
    void shouldFilterProjectAndPartitionAsRowByRow(long seed, int partitions, int chunkBytes)
            throws Exception {
        Random random = new Random(seed);
        List<String> columns = List.of("note", "key", "id", "maybe", "name");
        List<String> keys = List.of(random.nextBoolean() ? "maybe" : "key");
        ChunkProjection projection = ChunkProjection.of(SCHEMA, columns, keys);
        PackSpec packing = packing(chunkBytes);
        int keyColumn = projection.schema().require(keys.get(0));
        if (partitions > 0) {
            packing = packing.partitionedBy(keyColumn, partitions);
        }
        FilterFunction<RowView> filter = row -> row.getDouble("price") > -0.5;
        List<List<Object>> expected = new ArrayList<>();
        try (var harness = open(projection, filter, packing)) {
            for (int i = 0; i < 5; i++) {
                Chunk chunk = randomChunk(random, random.nextInt(400), i * 1000);
                expected.addAll(kept(chunk, columns, keys.get(0)));
                harness.processElement(new StreamRecord<>(chunk));
            }
            harness.endInput();

            List<Chunk> out = harness.extractOutputValues();
            assertThat(rows(out, columns)).containsExactlyInAnyOrderElementsOf(expected);
            for (Chunk chunk : out) {
                Chunk.wrap(projection.schema(), chunk.bytes());
                assertPartition(chunk, keyColumn, partitions);
            }
            if (partitions < 2) {
                assertThat(rows(out, columns)).isEqualTo(expected);
            }
        }
    }

    private static void assertPartition(Chunk chunk, int keyColumn, int partitions) {
        if (partitions == 0) {
            assertThat(chunk.partition()).isEqualTo(ChunkDescriptor.UNPARTITIONED);
            return;
        }
        for (int row = 0; row < chunk.rowCount(); row++) {
            long hash = KeyHash.hash(chunk.getLong(keyColumn, row));
            assertThat(KeyHash.partition(hash, partitions)).isEqualTo(chunk.partition());
        }
    }

    private static List<List<Object>> kept(Chunk chunk, List<String> columns, String key) {
        ChunkCursor cursor = new ChunkCursor(SCHEMA);
        List<List<Object>> rows = new ArrayList<>();
        for (int row = 0; row < chunk.rowCount(); row++) {
            cursor.at(chunk, row);
            if (cursor.getDouble("price") > -0.5 && !cursor.isNull(key)) {
                rows.add(columns.stream().map(name -> value(cursor, name)).toList());
            }
        }
        return rows;
    }

    static List<List<Object>> rows(List<Chunk> chunks, List<String> columns) {
        List<List<Object>> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            ChunkCursor cursor = new ChunkCursor(chunk.schema());
            for (int row = 0; row < chunk.rowCount(); row++) {
                cursor.at(chunk, row);
                rows.add(columns.stream().map(name -> value(cursor, name)).toList());
            }
        }
        return rows;
    }

    private static Object value(RowView row, String name) {
        if (row.isNull(name)) {
            return "null";
        }
        return switch (row.schema().column(row.schema().require(name)).type()) {
            case INT8, INT16, INT32, INT64 -> row.getLong(name);
            case FLOAT32, FLOAT64 -> row.getDouble(name);
            default -> row.getString(name);
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16, 128})
    void shouldPartitionChunksOfFixedColumns(int partitions) throws Exception {
        PackSpec packing = packing(256).partitionedBy(1, partitions);
        try (var harness = open(all(FIXED, "key"), null, packing)) {
            harness.processElement(new StreamRecord<>(fixedChunk(5000, 0, 0)));
            harness.endInput();

            List<Chunk> out = harness.extractOutputValues();
            out.forEach(chunk -> assertPartition(chunk, 1, partitions));
            assertThat(rows(out, List.of("id", "key")))
                    .containsExactlyInAnyOrderElementsOf(
                            rows(List.of(fixedChunk(5000, 0, 0)), List.of("id", "key")));
        }
    }

    @ParameterizedTest
    @CsvSource({"INT8, false", "INT8, true", "INT16, false", "INT16, true"})
    void shouldPartitionByNarrowKeys(ColumnType type, boolean nullable) throws Exception {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT32), new Column("key", type, nullable));
        List<Object[]> rows = ChunkSamples.randomRows(schema, 3000, new Random(5));
        for (int id = 0; id < rows.size(); id++) {
            rows.get(id)[0] = id;
        }
        ChunkProjection projection =
                ChunkProjection.of(schema, List.of("key", "id"), List.of("key"))
                        .keepingNullKeys(Map.of("key", 1));
        FilterFunction<RowView> filter = row -> row.getInt("id") % 3 > 0;
        try (var harness = open(projection, filter, packing(256).partitionedBy(0, 16))) {
            Chunk chunk = TestChunks.of(schema, ChunkDescriptor.FACTS, rows);
            harness.processElement(new StreamRecord<>(chunk));
            harness.endInput();

            int count = 0;
            for (Chunk out : harness.extractOutputValues()) {
                assertPartition(out, 0, 16);
                for (int row = 0; row < out.rowCount(); row++) {
                    Number key = (Number) rows.get(out.getInt(1, row))[1];
                    if (key != null) {
                        assertThat(out.getLong(0, row)).isEqualTo(key.longValue());
                    }
                }
                count += out.rowCount();
            }
            assertThat(count).isEqualTo(2000);
        }
    }

    @Test
    void shouldCountRowsWhoseKeyIsNull() throws Exception {
        Chunk chunk = randomChunk(new Random(8), 300, 0);
        ChunkProjection projection =
                ChunkProjection.of(SCHEMA, List.of("maybe", "id"), List.of("maybe"));
        try (var harness = open(projection, null, packing(1 << 16))) {
            harness.processElement(new StreamRecord<>(chunk));
            harness.endInput();

            Chunk out = harness.extractOutputValues().get(0);
            assertThat(out.schema().column(0)).isEqualTo(Column.of("maybe", ColumnType.INT64));
            assertThat(operator.nullKeyRows.getCount()).isPositive();
            assertThat(out.rowCount() + operator.nullKeyRows.getCount()).isEqualTo(300);
        }
    }

    @Test
    void shouldKeepRowsWithANullKeyInAllPartitionsWhereUnmatchedFactsAreKept() throws Exception {
        Chunk chunk = randomChunk(new Random(9), 2000, 0);
        ChunkProjection projection =
                ChunkProjection.of(SCHEMA, List.of("maybe", "id"), List.of("maybe"))
                        .keepingNullKeys(Map.of("maybe", 0b101));
        int partitions = 4;
        try (var harness = open(projection, null, packing(1 << 16).partitionedBy(0, partitions))) {
            harness.processElement(new StreamRecord<>(chunk));
            harness.endInput();

            ChunkCursor source = new ChunkCursor(SCHEMA);
            int rows = 0;
            List<Integer> nullsByPartition = new ArrayList<>();
            for (Chunk out : harness.extractOutputValues()) {
                int nulls = 0;
                for (int row = 0; row < out.rowCount(); row++) {
                    source.at(chunk, out.getInt(1, row));
                    boolean isNull = source.isNull(3);
                    assertThat(out.getInt(2, row)).isEqualTo(isNull ? 0b101 : 0);
                    if (!isNull) {
                        assertThat(out.getLong(0, row)).isEqualTo(source.getLong(3));
                    }
                    nulls += isNull ? 1 : 0;
                }
                rows += out.rowCount();
                nullsByPartition.add(nulls);
            }
            assertThat(rows).isEqualTo(2000);
            assertThat(operator.nullKeyRows.getCount()).isZero();
            // about 500 of them
            assertThat(nullsByPartition).hasSize(partitions).allMatch(nulls -> nulls > 80);
        }
    }

    @Test
    void shouldNameTheSideWhoseFilterFails() throws Exception {
        FilterFunction<RowView> filter = row -> row.getLong("no such column") > 0;
        try (var harness = open(all(FIXED, "key"), filter, packing(1 << 16))) {
            assertThatThrownBy(
                            () -> harness.processElement(new StreamRecord<>(fixedChunk(1, 0, 0))))
                    .hasMessage("The filter of a side of the join failed: side=parts")
                    .rootCause()
                    .hasMessageContaining("no such column");
        }
    }

    @Test
    void shouldRefuseAChunkOfAnotherSchema() throws Exception {
        try (var harness = open(all(SCHEMA, "key"), null, packing(1 << 16))) {
            assertThatThrownBy(
                            () -> harness.processElement(new StreamRecord<>(fixedChunk(1, 0, 0))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith(
                            "A chunk has another schema than its stream: side=parts");
        }
    }

    @Test
    void shouldRefuseColumnsThatAreNotThere() {
        assertThatThrownBy(() -> ChunkProjection.of(FIXED, List.of("kee"), List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name=kee")
                .hasMessageContaining("columns=[id, key]");
        assertThatThrownBy(() -> ChunkProjection.of(FIXED, List.of("id"), List.of("key")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Join key is not selected: key=key, columns=[id]. Add it to the columns.");
        assertThatThrownBy(() -> ChunkProjection.of(SCHEMA, List.of("name"), List.of("name")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Unsupported type of a join key: column=");
    }
}
