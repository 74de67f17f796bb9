// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.filter.DimensionFilter;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.filter.FilteringDimension;
import io.github.gpujoin.flink.filter.PublishedFilters;
import io.github.gpujoin.flink.record.RecordLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.MockResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packers of facts under the keys of complete dimensions. */
class FactPruningTest {

    /** TaskManager of mocked tasks. */
    private static final String PROCESS = "0";

    private static final int FACTS = 3_000;
    private static final int PARTITIONS = 8;

    /** A fact with keys of two dimensions. */
    public static class Fact {
        public long id;
        public short narrow;
        public long key;
        public String text;

        public Fact() {}
    }

    /** What is packed, and how. */
    enum Input {
        PRIMITIVE_RECORDS,
        REUSED_RECORDS,
        RECORDS_WITH_TEXT,
        RECORDS_WITH_LONG_TEXT,
        CHUNKS,
        NULLABLE_KEYS,
        ENCODED_CHUNKS
    }

    private final ResultPartitionID partition = new ResultPartitionID();
    private final PublishedFilters filters =
            new PublishedFilters(PROCESS, "join", List.of(partition));
    private final Random random = new Random(11);

    @AfterEach
    void close() {
        filters.close();
    }

    private static ChunkSchema schema(boolean nullable) {
        return ChunkSchema.of(
                Column.of("id", ColumnType.INT64),
                nullable
                        ? Column.nullable("narrow", ColumnType.INT16)
                        : Column.of("narrow", ColumnType.INT16),
                Column.of("key", ColumnType.INT64));
    }

    private static PackSpec packing(boolean isPartitioned) {
        PackSpec packing =
                PackSpec.unpartitioned(
                        "facts", ChunkDescriptor.FACTS, 4 << 10, Duration.ofMillis(100));
        return isPartitioned ? packing.partitionedBy(2, PARTITIONS) : packing;
    }

    /** Publishes that one dimension has some narrow keys, and the other one all small keys. */
    private void publish() {
        filters.publish(List.of(filter(1, -20, 3), filter(2, 0, 50)), true);
    }

    private static DimensionFilter filter(int factColumn, long from, long to) {
        KeyFilterBuilder keys = new KeyFilterBuilder(1 << 10);
        LongStream.range(from, to).forEach(keys::add);
        return new DimensionFilter("d" + factColumn, factColumn, keys.build().orElseThrow());
    }

    private static boolean isKept(Fact fact) {
        return fact.narrow >= -20 && fact.narrow < 3 && fact.key >= 0 && fact.key < 50;
    }

    private Fact fact(long id) {
        Fact fact = new Fact();
        fact.id = id;
        fact.narrow = (short) (random.nextInt(60) - 30);
        fact.key = random.nextInt(4) > 0 ? random.nextInt(100) - 25 : random.nextLong();
        fact.text = "text " + id;
        return fact;
    }

    private <IN> OneInputStreamOperatorTestHarness<IN, Chunk> open(
            AbstractPackOperator<IN, ?> packer, ChunkSchema schema, boolean reuse)
            throws Exception {
        packer.pruneBy(
                new FilterPlan(
                        "join",
                        new OperatorID(),
                        List.of(
                                new FilteringDimension(0, "d1", 1, Distribution.REPLICATED),
                                new FilteringDimension(1, "d2", 2, Distribution.REPLICATED)),
                        1 << 10,
                        List.of()));
        MockEnvironment task = MockEnvironment.builder().build();
        List<ResultPartitionWriter> writers =
                List.of(
                        new MockResultPartitionWriter() {
                            @Override
                            public ResultPartitionID getPartitionId() {
                                return partition;
                            }
                        });
        task.addOutputs(writers);
        OneInputStreamOperatorTestHarness<IN, Chunk> harness =
                new OneInputStreamOperatorTestHarness<>(packer, task);
        if (reuse) {
            harness.getExecutionConfig().enableObjectReuse();
        }
        harness.setup(ChunkTypeInfo.of(schema).createSerializer(null));
        harness.open();
        return harness;
    }

    private static PackOperator<Fact> records(boolean hasText, boolean isPartitioned) {
        RecordLayout<Fact> layout =
                RecordLayout.of(
                        TypeInformation.of(Fact.class),
                        hasText
                                ? List.of("id", "narrow", "key", "text")
                                : List.of("id", "narrow", "key"),
                        List.of("narrow", "key"),
                        new SerializerConfigImpl());
        return new PackOperator<>(layout, null, packing(isPartitioned));
    }

    private static ChunkPackOperator chunks(boolean nullable, boolean isPartitioned) {
        ChunkProjection projection =
                ChunkProjection.of(
                        schema(nullable), List.of("id", "narrow", "key"), List.of("narrow", "key"));
        return new ChunkPackOperator(projection, null, packing(isPartitioned));
    }

    private static Chunk chunk(List<Fact> facts, boolean nullable) {
        ChunkBuilder builder = new ChunkBuilder(schema(nullable), 1 << 20);
        for (Fact fact : facts) {
            builder.putInteger(0, fact.id);
            if (!nullable) {
                builder.putInteger(1, fact.narrow);
            } else if (fact.id % 5 == 0) {
                builder.addNull();
            } else {
                builder.addInteger(Short.BYTES, fact.narrow);
            }
            builder.putInteger(2, fact.key);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static List<Long> ids(OneInputStreamOperatorTestHarness<?, Chunk> harness) {
        List<Long> ids = new ArrayList<>();
        for (Chunk chunk : harness.extractOutputValues()) {
            ChunkCursor cursor = new ChunkCursor(chunk.schema());
            for (int row = 0; row < chunk.rowCount(); row++) {
                ids.add(cursor.at(chunk, row).getLong(0));
            }
        }
        return ids;
    }

    private List<Long> packed(Input input, boolean isPartitioned, List<Fact> facts)
            throws Exception {
        boolean nullable = input == Input.NULLABLE_KEYS;
        if (input.compareTo(Input.CHUNKS) < 0) {
            boolean hasText = input.name().endsWith("TEXT");
            if (input == Input.RECORDS_WITH_LONG_TEXT) {
                facts.forEach(fact -> fact.text = "long text ".repeat(10));
            }
            PackOperator<Fact> packer = records(hasText, isPartitioned);
            ChunkSchema schema =
                    hasText
                            ? ChunkSchema.of(
                                    Column.of("id", ColumnType.INT64),
                                    Column.of("narrow", ColumnType.INT16),
                                    Column.of("key", ColumnType.INT64),
                                    Column.nullable("text", ColumnType.STRING))
                            : schema(false);
            try (var harness = open(packer, schema, input == Input.REUSED_RECORDS)) {
                for (Fact fact : facts) {
                    harness.processElement(new StreamRecord<>(fact));
                }
                harness.endInput();
                return ids(harness);
            }
        }
        try (var harness = open(chunks(nullable, isPartitioned), schema(false), false)) {
            for (int from = 0; from < facts.size(); from += 700) {
                Chunk chunk =
                        chunk(facts.subList(from, Math.min(facts.size(), from + 700)), nullable);
                harness.processElement(
                        new StreamRecord<>(
                                input == Input.ENCODED_CHUNKS
                                        ? ChunkDecoder.open(
                                                chunk.schema(), new ChunkEncoder().encode(chunk))
                                        : chunk));
            }
            harness.endInput();
            return ids(harness);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldDropFactsWithoutAMatchInADimension(Input input) throws Exception {
        publish();
        for (boolean isPartitioned : new boolean[] {false, true}) {
            List<Fact> facts = LongStream.range(0, FACTS).mapToObj(this::fact).toList();
            List<Long> expected =
                    facts.stream()
                            .filter(FactPruningTest::isKept)
                            .map(fact -> fact.id)
                            .filter(id -> input != Input.NULLABLE_KEYS || id % 5 > 0)
                            .toList();

            assertThat(packed(input, isPartitioned, facts))
                    .containsExactlyInAnyOrderElementsOf(expected);
        }
    }

    @Test
    void shouldKeepAllFactsAsLongAsNoDimensionIsComplete() throws Exception {
        List<Fact> facts = LongStream.range(0, FACTS).mapToObj(this::fact).toList();

        assertThat(packed(Input.REUSED_RECORDS, false, facts)).hasSize(FACTS);
        assertThat(packed(Input.CHUNKS, false, facts)).hasSize(FACTS);
    }

    /** The first chunks are copied to sample the filter, further ones pass as they are. */
    @ParameterizedTest
    @ValueSource(ints = {100, 700, 5_000})
    void shouldKeepTheOrderOfFactsWhenAFilterIsSuspended(int rows) throws Exception {
        filters.publish(List.of(filter(1, -30, 29)), true);
        List<Long> sent = new ArrayList<>();
        try (var harness = open(chunks(false, false), schema(false), false)) {
            for (int id = 0; id < 30_000; id += rows) {
                List<Fact> facts = LongStream.range(id, id + rows).mapToObj(this::fact).toList();
                facts.forEach(fact -> sent.add(fact.id));
                harness.processElement(new StreamRecord<>(chunk(facts, false)));
            }
            harness.endInput();

            List<Long> ids = ids(harness);
            assertThat(ids).isSorted().hasSizeLessThan(sent.size());
            assertThat(sent).containsAll(ids);
            assertThat(ids.subList(ids.size() - 1_000, ids.size()))
                    .isEqualTo(sent.subList(sent.size() - 1_000, sent.size()));
        }
    }

    /**
     * Records are staged while filters test them, and written to their group's chunk afterwards.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepTheOrderOfRecordsWhenAFilterIsSuspended(boolean hasText) throws Exception {
        filters.publish(List.of(filter(1, -30, 29)), true);
        List<Long> ids;
        try (var harness = open(records(hasText, false), schema(false), false)) {
            for (long id = 0; id < 30_000; id++) {
                harness.processElement(new StreamRecord<>(fact(id)));
            }
            harness.endInput();
            ids = ids(harness);
        }

        assertThat(ids).isSorted().doesNotHaveDuplicates().hasSizeBetween(28_000, 29_999);
        assertThat(ids.subList(ids.size() - 1_000, ids.size()))
                .isEqualTo(LongStream.range(29_000, 30_000).boxed().toList());
    }
}
