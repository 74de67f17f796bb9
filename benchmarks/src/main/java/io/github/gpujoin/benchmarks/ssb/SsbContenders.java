// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.flink.api.options.GpuJoinOptions.Engine;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The contenders of a run, and the one whose answers are the expected ones. */
public final class SsbContenders implements AutoCloseable {

    /** Names of the contenders that a run has by default. */
    public static final List<String> DEFAULT =
            List.of("ours", "ours-without-filters", "duckdb", "flink-batch", "flink-streaming");

    /** Names of all contenders. */
    public static final List<String> NAMES =
            List.of(
                    "ours",
                    "ours-gpu",
                    "ours-cpu",
                    "ours-without-filters",
                    "duckdb",
                    "flink-batch",
                    "flink-streaming");

    private final JobCluster cluster;
    private final DuckDbFiles duckDb;
    private final List<SsbContender> all = new ArrayList<>();
    private final SsbContender reference;

    /**
     * Opens contenders, but for those that cannot read the files.
     *
     * @param names some of {@link #NAMES}
     * @param cluster of Flink's jobs, with a slot for each thread; closed by its owner
     * @param threads of DuckDB
     * @param skipped receives a line for each contender that cannot read the files
     */
    public SsbContenders(
            List<String> names,
            JobCluster cluster,
            int threads,
            SsbFiles files,
            Consumer<String> skipped)
            throws SQLException {
        this.cluster = cluster;
        this.duckDb = new DuckDbFiles(threads);
        for (String name : names) {
            SsbContender contender = make(name);
            String obstacle = contender.obstacle(files);
            if (obstacle == null) {
                all.add(contender);
            } else {
                skipped.accept(
                        "skipped: contender=%s, format=%s, reason=%s"
                                .formatted(name, files.formatName(), obstacle));
            }
        }
        this.reference = duckDb.obstacle(files) == null ? duckDb : new OfTblFiles(duckDb);
    }

    private SsbContender make(String name) {
        return switch (name) {
            case "ours" -> OurJobs.with(name, cluster, Engine.AUTO);
            case "ours-gpu" -> OurJobs.with(name, cluster, Engine.GPU);
            case "ours-cpu" -> OurJobs.with(name, cluster, Engine.CPU);
            case "ours-without-filters" -> OurJobs.withoutFilters(name, cluster);
            case "duckdb" -> duckDb;
            case "flink-batch" -> FlinkSql.batch(name, cluster);
            case "flink-streaming" -> FlinkSql.streaming(name, cluster);
            default ->
                    throw new IllegalArgumentException(
                            "Unknown contender: name=%s. Use some of %s.".formatted(name, NAMES));
        };
    }

    /** Returns the number of facts in the files. */
    long factRows(SsbFiles files) throws SQLException {
        return duckDb.count(SsbTables.LINEORDER, reference == duckDb ? files : files.converted());
    }

    List<SsbContender> all() {
        return all;
    }

    /** DuckDB, which reads the files before their conversion. */
    private record OfTblFiles(DuckDbFiles duckDb) implements SsbContender {

        @Override
        public String name() {
            return "duckdb-of-tbl";
        }

        @Override
        public List<String> answer(Query query, SsbFiles files) throws Exception {
            return duckDb.answer(query, files.converted());
        }
    }

    /** Returns DuckDB, with the {@code .tbl} files where it cannot read the format. */
    SsbContender reference() {
        return reference;
    }

    /** Closes DuckDB. */
    @Override
    public void close() throws SQLException {
        duckDb.close();
    }
}
