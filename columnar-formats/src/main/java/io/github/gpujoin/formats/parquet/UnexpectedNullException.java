// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;

/** A row has no value of a column that is declared as not nullable. */
final class UnexpectedNullException extends IOException {

    private static final long serialVersionUID = 1L;

    private final long row;

    /**
     * @param row its number in the row group
     */
    UnexpectedNullException(long row) {
        super("Null in a column that is declared as not nullable: row=" + row);
        this.row = row;
    }

    long row() {
        return row;
    }
}
