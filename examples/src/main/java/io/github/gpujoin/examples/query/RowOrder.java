// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import java.util.Comparator;
import org.apache.flink.types.Row;

/** Comparators and getters for rows of named fields. */
final class RowOrder {

    private RowOrder() {}

    /** Orders by one field, whose values are comparable and not null. */
    static Comparator<Row> by(String field) {
        return (a, b) -> RowOrder.<Comparable<Object>>value(a, field).compareTo(b.getField(field));
    }

    /** Value of an INT32 or INT64 field. */
    static long number(Row row, String field) {
        return row.<Number>getFieldAs(field).longValue();
    }

    private static <T> T value(Row row, String field) {
        return row.getFieldAs(field);
    }
}
