// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * A predicate on named columns, before it is known where those stand in a chunk.
 *
 * @param columns that are read
 * @param bind makes the predicate for chunks of a schema
 */
record ColumnFilter(Set<String> columns, Function<ChunkSchema, FilterFunction<RowView>> bind) {

    static ColumnFilter all() {
        return new ColumnFilter(Set.of(), schema -> row -> true);
    }

    static ColumnFilter equal(String column, int value) {
        return between(column, value, value);
    }

    /** Both ends are included. */
    static ColumnFilter between(String column, int from, int to) {
        return new ColumnFilter(
                Set.of(column),
                schema -> {
                    int index = schema.require(column);
                    return row -> row.getInt(index) >= from && row.getInt(index) <= to;
                });
    }

    /**
     * Both ends are included.
     *
     * @param from {@code yyyy-mm-dd}
     */
    static ColumnFilter betweenDates(String column, String from, String to) {
        return between(
                column,
                Math.toIntExact(LocalDate.parse(from).toEpochDay()),
                Math.toIntExact(LocalDate.parse(to).toEpochDay()));
    }

    static ColumnFilter oneOf(String column, String... values) {
        byte[][] wanted =
                Stream.of(values)
                        .map(value -> value.getBytes(StandardCharsets.UTF_8))
                        .toArray(byte[][]::new);
        return new ColumnFilter(
                Set.of(column),
                schema -> {
                    int index = schema.require(column);
                    return row -> {
                        for (byte[] utf8 : wanted) {
                            if (row.isText(index, utf8)) {
                                return true;
                            }
                        }
                        return false;
                    };
                });
    }

    /** Both ends are included; text is compared by its characters, as SQL does by default. */
    static ColumnFilter between(String column, String from, String to) {
        return new ColumnFilter(
                Set.of(column),
                schema -> {
                    int index = schema.require(column);
                    return row -> {
                        String value = row.getString(index);
                        return value.compareTo(from) >= 0 && value.compareTo(to) <= 0;
                    };
                });
    }

    /** The first column's number is below the second's. */
    static ColumnFilter less(String first, String second) {
        return new ColumnFilter(
                Set.of(first, second),
                schema -> {
                    int left = schema.require(first);
                    int right = schema.require(second);
                    return row -> row.getInt(left) < row.getInt(right);
                });
    }

    ColumnFilter and(ColumnFilter other) {
        Set<String> both = new TreeSet<>(columns);
        both.addAll(other.columns);
        return new ColumnFilter(
                both,
                schema -> {
                    FilterFunction<RowView> first = bind.apply(schema);
                    FilterFunction<RowView> second = other.bind.apply(schema);
                    return row -> first.filter(row) && second.filter(row);
                });
    }

    /** The predicate for the chunks of a stream. */
    FilterFunction<RowView> on(DataStream<Chunk> chunks) {
        return on(((ChunkTypeInfo) chunks.getType()).schema());
    }

    /** The predicate for chunks of a schema. */
    FilterFunction<RowView> on(ChunkSchema schema) {
        return bind.apply(schema);
    }
}
