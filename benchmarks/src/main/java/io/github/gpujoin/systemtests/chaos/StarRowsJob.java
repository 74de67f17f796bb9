// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.flink.api.common.serialization.Encoder;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.types.Row;

/**
 * The star ETL without a query: every row of the star schema benchmark's fact table with columns of
 * all four dimensions, written to files in transactions of a checkpoint each.
 */
final class StarRowsJob {

    static final int PARALLELISM = 2;

    /** What the job computes; each row has an identity, its first two columns. */
    static final String SQL =
            "select lo_orderkey, lo_linenumber, lo_revenue, c_nation, s_nation, p_brand1, d_year"
                    + " from lineorder"
                    + " join customer on lo_custkey = c_custkey"
                    + " join supplier on lo_suppkey = s_suppkey"
                    + " join part on lo_partkey = p_partkey"
                    + " join date on lo_orderdate = d_datekey";

    /** Dimensions take about this long to read; then the facts are far from their end. */
    private static final int LOAD_MS = 1_500;

    private static final int FACT_MS = 4_500;
    private static final long HOLD_MS = 60;
    private static final int FACT_CHUNK_BYTES = 4 << 10;

    /** A row or a few: while a chunk waits for its time, so does a barrier. */
    private static final int DIMENSION_CHUNK_BYTES = 64;

    private final StreamExecutionEnvironment env;
    private final Path data;
    private final Markers markers;

    StarRowsJob(StreamExecutionEnvironment env, Path data, Markers markers) {
        this.env = env;
        this.data = data;
        this.markers = markers;
    }

    /**
     * @param partitioned whether the parts are; else all dimensions are replicated
     * @param out folder of the results
     */
    void define(boolean partitioned, Path out) {
        StarJoin<RowView> star =
                StarJoin.ofChunks(
                                read(
                                        SsbTables.LINEORDER,
                                        FACT_MS,
                                        "lo_orderkey",
                                        "lo_linenumber",
                                        "lo_custkey",
                                        "lo_partkey",
                                        "lo_suppkey",
                                        "lo_orderdate",
                                        "lo_revenue"))
                        .select("lo_orderkey", "lo_linenumber", "lo_revenue")
                        .uid("star-rows");
        join(star, SsbTables.CUSTOMER, "lo_custkey", "c_custkey", "c_nation", false);
        join(star, SsbTables.SUPPLIER, "lo_suppkey", "s_suppkey", "s_nation", false);
        join(star, SsbTables.PART, "lo_partkey", "p_partkey", "p_brand1", partitioned);
        join(star, SsbTables.DATE, "lo_orderdate", "d_datekey", "d_year", false);
        star.toRows().sinkTo(files(out)).name("files").uid("files");
    }

    private void join(
            StarJoin<RowView> star,
            TblTable table,
            String factKey,
            String key,
            String select,
            boolean partitioned) {
        star.dimensionChunks(
                read(table, LOAD_MS, key, select),
                d -> {
                    d.named(table.name()).on(factKey, key).select(select);
                    if (partitioned) {
                        d.partitioned();
                    } else {
                        d.replicated();
                    }
                });
    }

    private DataStream<Chunk> read(TblTable table, int durationMs, String... columns) {
        boolean facts = table == SsbTables.LINEORDER;
        int parallelism = facts ? PARALLELISM : 1;
        Path file = data.resolve(table.fileName());
        ChunkSchema schema = table.project(columns);
        int rowsPerSecond = (int) (1_000 * ChaosData.rows(file) / durationMs / parallelism);
        int chunkBytes = facts ? FACT_CHUNK_BYTES : DIMENSION_CHUNK_BYTES;
        return ColumnarSource.of(
                        table.format(schema).chunkBytes(chunkBytes),
                        new org.apache.flink.core.fs.Path(file.toUri()))
                .toStream(env, table.name())
                .setParallelism(parallelism)
                .transform(
                        "pace " + table.name(),
                        ChunkTypeInfo.of(schema),
                        new PacedGate(
                                table.name(),
                                markers,
                                Math.max(1, rowsPerSecond),
                                facts ? HOLD_MS : 0))
                .uid(table.name() + "-pace")
                .setParallelism(parallelism);
    }

    private static FileSink<Row> files(Path out) {
        return FileSink.forRowFormat(new org.apache.flink.core.fs.Path(out.toUri()), new BarLines())
                .withBucketAssigner(new BasePathBucketAssigner<>())
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build();
    }

    /** A row on a line, with bars between its fields. */
    private static final class BarLines implements Encoder<Row> {

        private static final long serialVersionUID = 1L;

        @Override
        public void encode(Row row, OutputStream out) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.getArity(); i++) {
                line.append(i == 0 ? "" : "|").append(row.getField(i));
            }
            PrintStream lines = new PrintStream(out, false, StandardCharsets.UTF_8);
            lines.print(line.append('\n'));
            lines.flush();
        }
    }
}
