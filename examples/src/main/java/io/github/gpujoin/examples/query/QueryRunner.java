// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.examples.files.TableFormat;
import io.github.gpujoin.examples.run.Progress;
import io.github.gpujoin.examples.run.RowCounter;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.jspecify.annotations.Nullable;

/** Runs queries as streaming jobs over the files of a directory, one after the other. */
public final class QueryRunner {

    private final StreamExecutionEnvironment env;
    private final Path directory;
    private final TableFormat format;
    private final PrintWriter progressOut;

    /** A runner over {@code .tbl} files. */
    public QueryRunner(StreamExecutionEnvironment env, Path directory, PrintWriter progressOut) {
        this(env, directory, null, progressOut);
    }

    /**
     * @param format of the files; null for {@code .tbl}
     */
    public QueryRunner(
            StreamExecutionEnvironment env,
            Path directory,
            @Nullable TableFormat format,
            PrintWriter progressOut) {
        this.env = env;
        this.directory = directory;
        this.format = format;
        this.progressOut = progressOut;
    }

    /** Runs the query's job to its end. */
    public QueryResult run(Query query) throws Exception {
        QueryTables tables = new QueryTables(env, directory, format, query.label());
        DataStream<Row> result = query.plan().of(tables);
        List<Row> rows = new ArrayList<>();
        long startNs = System.nanoTime();
        try (CloseableIterator<Row> collected = result.collectAsync()) {
            JobClient job = env.executeAsync(query.label());
            try (Progress progress =
                    Progress.show(progressOut, query.label(), job, tables.expectedRows())) {
                collected.forEachRemaining(rows::add);
            }
            Long counted =
                    job.getJobExecutionResult().get().getAccumulatorResult(RowCounter.FACT_ROWS);
            double seconds = (System.nanoTime() - startNs) / 1e9;
            long factRows = (counted == null ? 0 : counted) + tables.unwatchedFacts();
            return QueryResult.of(query, rows, factRows, seconds);
        }
    }
}
