// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CollectionUtil;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
@ExtendWith({MiniClusterExtension.class, RegionLeakExtension.class})
class EncodedResultsITCase {

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("product", ColumnType.INT32), Column.of("amount", ColumnType.INT64));

    private static final ChunkSchema PRODUCTS =
            ChunkSchema.of(Column.of("id", ColumnType.INT32), Column.of("price", ColumnType.INT64));

    private static final int KEYS = 1000;
    private static final int CHUNKS = 8;
    private static final int CHUNK_ROWS = 5000;

    private static Chunk chunk(ChunkSchema schema, int dimension, int number, int rows) {
        ChunkBuilder builder = new ChunkBuilder(schema, 1 << 20);
        for (int i = 0; i < rows; i++) {
            int row = number * rows + i;
            builder.putInt(0, row % KEYS);
            builder.putLong(1, row % 7);
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, number);
    }

    private static DataStream<Chunk> facts(StreamExecutionEnvironment env) {
        List<Chunk> facts = new ArrayList<>();
        for (int i = 0; i < CHUNKS; i++) {
            Chunk plain = chunk(FACTS, ChunkDescriptor.FACTS, i, CHUNK_ROWS);
            facts.add(ChunkDecoder.open(FACTS, new ChunkEncoder().encode(plain)));
        }
        return env.fromData(facts, ChunkTypeInfo.of(FACTS));
    }

    @ParameterizedTest
    @CsvSource({"1000, false", "1000, true", "900, true"})
    void shouldJoinEncodedFacts(int products, boolean reuse) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(1);
        if (reuse) {
            env.getConfig().enableObjectReuse();
        }
        DataStream<Chunk> dimension =
                env.fromData(List.of(chunk(PRODUCTS, 0, 0, products)), ChunkTypeInfo.of(PRODUCTS));
        DataStream<Tuple2<Integer, Long>> results =
                StarJoin.ofChunks(facts(env))
                        .select("amount")
                        .dimensionChunks(dimension, d -> d.on("product", "id").select("price"))
                        .toEncodedChunks()
                        .map(EncodedResultsITCase::describe)
                        .returns(Types.TUPLE(Types.INT, Types.LONG));

        List<Tuple2<Integer, Long>> chunks =
                CollectionUtil.iteratorToList(results.executeAndCollect());

        long expectedRows = 0;
        long expectedSum = 0;
        for (int row = 0; row < CHUNKS * CHUNK_ROWS; row++) {
            if (row % KEYS < products) {
                expectedRows++;
                expectedSum += row % 7 * (row % KEYS % 7 + 1L);
            }
        }
        assertThat(chunks.stream().mapToLong(chunk -> chunk.f0).sum()).isEqualTo(expectedRows);
        assertThat(chunks.stream().mapToLong(chunk -> chunk.f1).sum()).isEqualTo(expectedSum);
    }

    private static Tuple2<Integer, Long> describe(Chunk chunk) {
        long sum = 0;
        for (int row = 0; row < chunk.rowCount(); row++) {
            sum += chunk.getLong(0, row) * (chunk.getLong(1, row) + 1);
        }
        return Tuple2.of(chunk.rowCount(), sum);
    }
}
