// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.pack.StoredRowPackOperator;
import io.github.gpujoin.flink.record.RowKey;
import io.github.gpujoin.flink.record.StoredRowLayout;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * One input of a {@link RegularJoinPipeline} or a {@link MultiJoinPipeline}.
 *
 * @param name of the input, for messages and uids; inputs have different ones
 * @param rows whose kinds are used unless they are {@linkplain RowIdentity#APPEND_ONLY only
 *     inserted}. Changes of a row arrive in order from one subtask. The packer runs in the
 *     parallelism of this transformation, and in its chain if the edge permits.
 * @param type of the rows
 * @param keyColumns indexes of the columns of the join key, at least one
 * @param identity which earlier row a change refers to
 * @param identityColumns indexes of the columns of a unique key, for {@link
 *     RowIdentity#UNIQUE_COLUMNS}; otherwise empty
 * @param timeToLiveMs how long a row is joined after it was added, in processing time; {@link
 *     SymmetricInput#FOREVER} for no limit
 */
public record RegularJoinInput(
        String name,
        Transformation<RowData> rows,
        RowType type,
        List<Integer> keyColumns,
        RowIdentity identity,
        List<Integer> identityColumns,
        long timeToLiveMs) {

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if a column does not exist, there is no key, or the identity
     *     columns contradict the identity
     */
    public RegularJoinInput {
        keyColumns = List.copyOf(keyColumns);
        identityColumns = List.copyOf(identityColumns);
        if (keyColumns.isEmpty()) {
            throw new IllegalArgumentException(
                    "Join without a key: input=%s. Name at least one pair of equal columns."
                            .formatted(name));
        }
        if ((identity == RowIdentity.UNIQUE_COLUMNS) == identityColumns.isEmpty()) {
            throw new IllegalArgumentException(
                    "Unique columns contradict the identity of rows: input=%s, identity=%s, uniqueColumns=%s"
                            .formatted(name, identity, identityColumns));
        }
        requireColumns(name, type, keyColumns);
        requireColumns(name, type, identityColumns);
    }

    private static void requireColumns(String name, RowType type, List<Integer> columns) {
        for (int column : columns) {
            if (column < 0 || column >= type.getFieldCount()) {
                throw new IllegalArgumentException(
                        "Column does not exist: input=%s, column=%d, columns=%s"
                                .formatted(name, column, type.getFieldNames()));
            }
        }
    }

    /** Returns the names of some columns. */
    List<String> names(List<Integer> columns) {
        return columns.stream().map(type.getFieldNames()::get).toList();
    }

    /**
     * Returns how the rows are in chunks.
     *
     * @param keepsNullKeys whether rows without a match are results
     */
    StoredRowLayout layout(RowKey key, boolean keepsNullKeys) {
        RowKey unique =
                identity == RowIdentity.UNIQUE_COLUMNS
                        ? RowKey.of(
                                type,
                                identityColumns,
                                Collections.nCopies(identityColumns.size(), false))
                        : null;
        return new StoredRowLayout(type, key, identity, unique, keepsNullKeys);
    }

    /**
     * Adds the packer.
     *
     * @param number of the input
     * @param label of the input, as in the plan of the join
     */
    Transformation<Chunk> pack(
            StreamExecutionEnvironment env,
            RegularJoinTopology topology,
            int number,
            String label,
            StoredRowLayout layout) {
        DataStream<RowData> uncopied = UncopiedType.stream(new OperatorStream<>(env, rows));
        return topology.pack(
                label,
                name,
                uncopied.getTransformation(),
                new StoredRowPackOperator(layout, topology.packing(number, name)),
                layout.schema(),
                rows.getParallelism());
    }
}
