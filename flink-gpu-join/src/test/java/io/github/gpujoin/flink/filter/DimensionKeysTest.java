// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.explain.Distribution;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DimensionKeysTest {

    private static final int MAX_BYTES = 1 << 16;

    private static ChunkSchema schema(ColumnType key) {
        return ChunkSchema.of(
                Column.of("name", ColumnType.INT32),
                Column.of("key", key),
                Column.nullable("text", ColumnType.STRING));
    }

    /** A join whose dimensions have keys of one type, and of which facts have keys of 64 bits. */
    private static JoinSpec spec(ColumnType key) {
        return new JoinSpec(
                ChunkSchema.of(
                        Column.of("a", ColumnType.INT64),
                        Column.of("b", ColumnType.INT64),
                        Column.of("c", ColumnType.INT64)),
                List.of(dimension("first", key, 2), dimension("second", key, 0)));
    }

    private static DimensionSpec dimension(String name, ColumnType key, int factColumn) {
        return new DimensionSpec(
                name, schema(key), 1, factColumn, JoinKind.INNER, DimensionSpec.NO_CHANGES);
    }

    private static DimensionKeys keys(ColumnType key, Integer... dimensions) {
        return new DimensionKeys(spec(key), plan(dimensions));
    }

    private static FilterPlan plan(Integer... dimensions) {
        return new FilterPlan(
                "join",
                new OperatorID(),
                Stream.of(dimensions)
                        .map(
                                d ->
                                        new FilteringDimension(
                                                d,
                                                d == 0 ? "first" : "second",
                                                d == 0 ? 2 : 0,
                                                Distribution.REPLICATED))
                        .toList(),
                MAX_BYTES,
                List.of());
    }

    private static List<DimensionFilter> complete(DimensionKeys keys) {
        return DimensionFilter.of(plan(0, 1), keys.complete());
    }

    private static Chunk chunk(int dimension, ColumnType type, long... keys) {
        ChunkBuilder builder = new ChunkBuilder(schema(type), 1 << 20);
        for (long key : keys) {
            builder.putInt(0, 1);
            builder.putInteger(1, key);
            builder.addNull();
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static long[] random(ColumnType type, int count) {
        int unusedBits = Long.SIZE - Byte.SIZE * type.widthBytes();
        return new Random(3).longs(count).map(key -> key << unusedBits >> unusedBits).toArray();
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "INT16", "INT32", "INT64"})
    void shouldAcceptEachKeyOfAnyWidth(ColumnType type) {
        long[] all = random(type, 2_000);
        DimensionKeys keys = keys(type, 0);
        keys.add(chunk(0, type, all));

        DimensionFilter filter = complete(keys).get(0);

        assertThat(filter.dimension()).isEqualTo("first");
        assertThat(filter.factColumn()).isEqualTo(2);
        assertThat(LongStream.of(all)).allMatch(filter.keys()::mayAccept);
        assertThat(filter.keys().mayAccept(1L << 40)).isFalse();
    }

    @Test
    void shouldReadEncodedChunks() {
        long[] all = LongStream.range(0, 5_000).map(i -> i / 3 * 2).toArray();
        Chunk plain = chunk(0, ColumnType.INT64, all);
        Chunk encoded = ChunkDecoder.open(plain.schema(), new ChunkEncoder().encode(plain));
        assertThat(encoded).isInstanceOf(EncodedChunk.class);
        DimensionKeys keys = keys(ColumnType.INT64, 0);
        keys.add(encoded);

        KeyFilter filter = complete(keys).get(0).keys();

        assertThat(LongStream.of(all)).allMatch(filter::mayAccept);
        assertThat(filter.mayAccept(3)).isFalse();
    }

    @Test
    void shouldAcceptNothingForAnEmptyDimension() {
        KeyFilter filter = complete(keys(ColumnType.INT32, 0)).get(0).keys();

        assertThat(LongStream.of(0, -1, Long.MAX_VALUE, Long.MIN_VALUE))
                .noneMatch(filter::mayAccept);
        assertThat(filter.mayAcceptAny(Long.MIN_VALUE, Long.MAX_VALUE)).isFalse();
    }

    @Test
    void shouldLeaveOutDimensionsThatDoNotFilterOrWhoseKeysAreMissing() {
        DimensionKeys keys = keys(ColumnType.INT32, 0, 1);
        keys.add(chunk(0, ColumnType.INT32, 5));
        keys.add(chunk(1, ColumnType.INT32, 6));
        keys.await(0, 7, 1);
        assertThat(complete(keys))
                .singleElement()
                .extracting(DimensionFilter::dimension)
                .isEqualTo("second");

        assertThat(complete(keys(ColumnType.INT32))).isEmpty();
    }

    @Test
    void shouldReadTheKeysOfRestoredRowsOnce() {
        DimensionKeys keys = keys(ColumnType.INT32, 0);
        keys.await(0, 7, 2);
        keys.await(0, 8, 0);
        keys.add(chunk(0, ColumnType.INT32, 1));
        assertThat(keys.awaitsLog()).isTrue();
        keys.read(7, 0, chunk(0, ColumnType.INT32, 2));
        keys.read(7, 0, chunk(0, ColumnType.INT32, 2));
        keys.read(9, 0, chunk(0, ColumnType.INT32, 90));
        assertThat(keys.awaitsLog()).isTrue();

        keys.read(7, 1, chunk(0, ColumnType.INT32, 3));

        assertThat(keys.awaitsLog()).isFalse();
        KeyFilter filter = complete(keys).get(0).keys();
        assertThat(LongStream.range(0, 100).filter(filter::mayAccept)).containsExactly(1L, 2L, 3L);
    }

    @Test
    void shouldNotAwaitRestoredRowsOfADimensionThatFiltersNothing() {
        DimensionKeys keys = keys(ColumnType.INT32, 1);
        keys.await(0, 7, 2);

        assertThat(keys.awaitsLog()).isFalse();
    }

    @Test
    void shouldIgnoreRowsThatFollowTheEnd() {
        DimensionKeys keys = keys(ColumnType.INT32, 0);
        complete(keys);
        keys.add(chunk(0, ColumnType.INT32, 5));

        assertThat(complete(keys)).isEmpty();
    }
}
