// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.examples.data.Benchmark;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;

/**
 * A query of a benchmark: the streaming job that answers it, and how its result is shown.
 *
 * @param name as on the command line, such as {@code 2.1} or {@code tpch-3}
 * @param plan builds the job
 * @param columns of the result, in the order of the query's select list
 * @param order of the result's rows
 * @param limit most rows of the result
 */
public record Query(
        String name,
        Benchmark benchmark,
        Plan plan,
        List<ResultColumn> columns,
        Comparator<Row> order,
        int limit) {

    /** Builds the job that answers a query. */
    @FunctionalInterface
    public interface Plan {
        /** Returns the result's rows, with named fields and in any order. */
        DataStream<Row> of(QueryTables tables);
    }

    /** Name of the job, of the prefix of its operators' uids, and of the result's file. */
    public String label() {
        return benchmark == Benchmark.SSB ? "q" + name : name;
    }

    /** A grand total has one row even where nothing was summed up; its sum is null then. */
    public boolean isGrandTotal() {
        return columns.size() == 1;
    }

    /** The query in SQL. */
    public String sql() {
        String resource = label() + ".sql";
        try (InputStream in = Query.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(
                        "Query lacks its SQL text: query=" + name + ", resource=" + resource);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
