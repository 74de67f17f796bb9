// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.tbl.TblSql;
import io.github.gpujoin.examples.tbl.TblTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;

/**
 * The star schema benchmark's tables in DuckDB, and its answer to {@link StarRowsJob#SQL}, against
 * which the files of a run are compared. Not thread-safe.
 */
final class ChaosData implements AutoCloseable {

    /**
     * How a run's rows differ from DuckDB's, as bags: a row that is wrong is lost, and duplicated
     * as what it should not be.
     */
    record Difference(long rows, long lost, long duplicated) {}

    private final Connection connection;

    /**
     * @param folder of all tables of the benchmark
     */
    static ChaosData load(Path folder) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:duckdb:");
        try (Statement statement = connection.createStatement()) {
            for (TblTable table : Benchmark.SSB.tables()) {
                statement.execute(
                        "create view "
                                + table.name()
                                + " as "
                                + TblSql.select(table, folder, true));
            }
            statement.execute("create table expected as " + StarRowsJob.SQL);
            return new ChaosData(connection);
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    private ChaosData(Connection connection) {
        this.connection = connection;
    }

    static long rows(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Compares what a run committed; what it did not commit lies in hidden files. */
    Difference compare(Path out) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create or replace table got as from expected limit 0");
            if (hasCommitted(out)) {
                statement.execute(
                        "insert into got select * from read_csv('%s/part-*', delim='|', quote='',"
                                        .formatted(out)
                                + " header=false, all_varchar=true)");
            }
            return new Difference(
                    count(statement, "from got"),
                    count(statement, "from expected except all from got"),
                    count(statement, "from got except all from expected"));
        }
    }

    /** Writes the right rows as a job would. */
    void write(Path file) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    "copy expected to '%s' (format csv, delimiter '|', header false, quote '')"
                            .formatted(file));
        }
    }

    private static boolean hasCommitted(Path out) {
        try (Stream<Path> files = Files.list(out)) {
            return files.anyMatch(file -> file.getFileName().toString().startsWith("part-"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long count(Statement statement, String query) throws SQLException {
        try (ResultSet result = statement.executeQuery("select count(*) from (" + query + ")")) {
            result.next();
            return result.getLong(1);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
