// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/** The two streams of a regular join, of records of one kind. */
public abstract class RegularStreams<T> {

    RegularStreams() {}

    /** Returns streams of external rows. */
    public static RegularStreams<Row> ofRows(DataStream<Row> left, DataStream<Row> right) {
        return new RegularRowStreams(left, right);
    }

    /** Returns streams of internal rows. */
    public static RegularStreams<RowData> ofRowData(
            DataStream<RowData> left, DataStream<RowData> right) {
        return new RegularRowDataStreams(left, right);
    }

    /** Returns streams of columnar chunks. */
    public static RegularStreams<Chunk> ofChunks(DataStream<Chunk> left, DataStream<Chunk> right) {
        return new RegularChunkStreams(left, right);
    }

    /**
     * Adds the join to the environment of the streams.
     *
     * @throws IllegalArgumentException if the description is incomplete or does not fit the streams
     */
    public abstract DataStream<T> join(RegularJoinDescription join);
}
