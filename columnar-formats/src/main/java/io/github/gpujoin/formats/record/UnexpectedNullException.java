// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import org.apache.flink.annotation.PublicEvolving;

/** A record has a null in a column that is declared as not nullable. */
@PublicEvolving
public final class UnexpectedNullException extends BadRecordException {

    private static final long serialVersionUID = 1L;

    private final String column;

    UnexpectedNullException(String column) {
        super("Null in a column that is not nullable: column=" + column);
        this.column = column;
    }

    /** Returns the name of the column. */
    public String column() {
        return column;
    }
}
