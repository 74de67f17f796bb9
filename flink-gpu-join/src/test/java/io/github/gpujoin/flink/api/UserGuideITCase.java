// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The program with chunks in docs/user-guide.md: the lines between the two marks. */
@Timeout(120)
class UserGuideITCase {

    private static final Path GUIDE = Path.of("../docs/user-guide.md");
    private static final Path SOURCE =
            Path.of("src/test/java/io/github/gpujoin/flink/api/UserGuideITCase.java");
    private static final String MARK = "    // ----- docs/user-guide.md\n";

    // ----- docs/user-guide.md
    static final ChunkSchema ORDERS =
            ChunkSchema.of(
                    Column.of("customer_id", ColumnType.INT32),
                    Column.of("revenue", ColumnType.INT64));
    static final ChunkSchema CUSTOMERS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT32), Column.nullable("city", ColumnType.STRING));

    /** Emits a batch of rows. None stays in the builder, since no checkpoint contains it. */
    static void readOrders(long batch, Collector<Chunk> out) {
        ChunkBuilder rows = new ChunkBuilder(ORDERS, 128 << 10); // bytes of a full chunk
        for (int i = 1; i <= 100_000; i++) {
            rows.putInt(0, i % 1000); // column 0
            rows.putLong(1, batch + i);
            rows.endRow();
            if (rows.isFull() || i == 100_000) {
                out.collect(rows.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
            }
        }
    }

    static Chunk readCustomers() {
        ChunkBuilder rows = new ChunkBuilder(CUSTOMERS, 128 << 10);
        for (int id = 0; id < 1000; id++) {
            rows.putInt(0, id);
            rows.addString("city " + id % 7); // text and nullable columns: in their order
            rows.endRow();
        }
        return rows.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    static DataStream<Chunk> join(StreamExecutionEnvironment env) {
        DataStream<Chunk> orders =
                env.fromSequence(1, 10)
                        .flatMap((Long batch, Collector<Chunk> out) -> readOrders(batch, out))
                        .returns(ChunkTypeInfo.of(ORDERS));
        DataStream<Chunk> customers =
                env.fromData(List.of(readCustomers()), ChunkTypeInfo.of(CUSTOMERS));
        return StarJoin.ofChunks(orders)
                .select("revenue")
                .dimensionChunks(customers, d -> d.on("customer_id", "id").select("city"))
                .toChunks();
    }

    static long revenueOfCity3(Chunk results) {
        int revenue = results.schema().require("revenue");
        ChunkCursor row = new ChunkCursor(results.schema());
        long sum = 0;
        for (int i = 0; i < results.rowCount(); i++) {
            boolean matches = "city 3".equals(row.at(results, i).getString("city"));
            sum += matches ? results.getLong(revenue, i) : 0;
        }
        return sum;
    }

    // ----- docs/user-guide.md

    @Test
    void shouldQuoteTheProgramInTheGuide() throws IOException {
        String program = Files.readString(SOURCE).split(MARK)[1];
        assertThat(Files.readString(GUIDE))
                .contains("```java\n" + program.stripTrailing().stripIndent() + "\n```");
    }

    @Test
    void shouldJoinChunksOfASource() throws Exception {
        DataStream<Long> sums =
                join(SalesData.environment("cpu", 2))
                        .map(UserGuideITCase::revenueOfCity3)
                        .returns(Types.LONG);
        long sum = 0;
        try (CloseableIterator<Long> results = sums.executeAndCollect()) {
            while (results.hasNext()) {
                sum += results.next();
            }
        }
        assertThat(sum).isEqualTo(expectedRevenue());
    }

    private static long expectedRevenue() {
        long sum = 0;
        for (long batch = 1; batch <= 10; batch++) {
            for (int i = 1; i <= 100_000; i++) {
                sum += i % 1000 % 7 == 3 ? batch + i : 0;
            }
        }
        return sum;
    }

    @Test
    void shouldReadEncodedChunksAsPlainOnes() {
        List<Chunk> plain = new ArrayList<>();
        readOrders(1, new ListCollector<>(plain));
        ChunkEncoder encoder = new ChunkEncoder();
        for (Chunk chunk : plain) {
            Chunk encoded = ChunkDecoder.open(ORDERS, encoder.encode(chunk));
            assertThat(encoded).isInstanceOf(EncodedChunk.class);
            assertThat(encoded.getLong(1, 7)).isEqualTo(chunk.getLong(1, 7));
        }
    }
}
