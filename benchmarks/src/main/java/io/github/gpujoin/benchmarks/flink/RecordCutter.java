// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.core.layout.Chunk;
import java.io.Serializable;

/** Cuts chunks of tuples into the records that a source sends. */
interface RecordCutter<T> extends Serializable {

    /** Rows of the chunk that the record from {@code row} on takes; at least 1. */
    int rowsAt(Chunk chunk, int row);

    T record(Chunk chunk, int row);

    /** Sends chunks as they are. */
    static RecordCutter<Chunk> chunks() {
        return new WholeChunks();
    }

    /** Sends a record for each row. */
    static <T> RecordCutter<T> rows(RowMaker<T> maker) {
        return new SingleRows<>(maker);
    }

    /** Makes a record of key and payload. */
    interface RowMaker<T> extends Serializable {
        T make(long key, long payload);
    }
}
