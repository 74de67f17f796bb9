// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.files;

import io.github.gpujoin.benchmarks.join.TextReport;
import java.nio.file.Path;
import java.sql.SQLException;

/**
 * DuckDB in this process, which is free to write rows in any order. The time is from the opening of
 * an empty database, without the start of a process.
 */
public final class DuckDbFileJoin extends FileJoinContender {

    public DuckDbFileJoin(JoinFiles files) {
        super(files);
    }

    @Override
    public String name() {
        return TextReport.DUCKDB;
    }

    @Override
    void join(JoinFiles files, Path result) throws SQLException {
        files.copy(files.sql(), result);
    }
}
