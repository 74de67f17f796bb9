// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import java.io.IOException;

/** Writes a record's value of one column into the current row of a builder. Not thread-safe. */
@FunctionalInterface
interface ColumnWriter<T> {

    /**
     * @throws IllegalArgumentException if the value is not of the column's type
     */
    void write(T record, ChunkBuilder target) throws IOException;
}
