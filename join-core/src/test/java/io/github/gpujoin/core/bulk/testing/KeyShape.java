// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk.testing;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;

/** Columns of the keys of both inputs. */
public enum KeyShape {
    LONG(List.of(key(ColumnType.INT64)), List.of(key(ColumnType.INT64))),
    WIDTHS(List.of(key(ColumnType.INT8)), List.of(key(ColumnType.INT32))),
    NULLABLE_INT(List.of(nullable(ColumnType.INT64)), List.of(key(ColumnType.INT32))),
    /** Two integers of at most 8 bytes together. */
    NARROW_PAIR(
            List.of(key(ColumnType.INT32), second(ColumnType.INT16)),
            List.of(key(ColumnType.INT16), second(ColumnType.INT32))),
    NULLABLE_NARROW_PAIR(
            List.of(nullable(ColumnType.INT32), second(ColumnType.INT8)),
            List.of(nullable(ColumnType.INT32), second(ColumnType.INT16))),
    /** Two integers of more than 8 bytes. */
    WIDE_PAIR(
            List.of(key(ColumnType.INT64), second(ColumnType.INT8)),
            List.of(key(ColumnType.INT64), second(ColumnType.INT8))),
    TEXT(List.of(key(ColumnType.STRING)), List.of(key(ColumnType.STRING))),
    NULLABLE_TEXTS(
            List.of(nullable(ColumnType.STRING), second(ColumnType.STRING)),
            List.of(nullable(ColumnType.STRING), second(ColumnType.STRING))),
    BYTES_AND_INT(
            List.of(nullable(ColumnType.BYTES), second(ColumnType.INT64)),
            List.of(nullable(ColumnType.BYTES), second(ColumnType.INT16)));

    private final List<Column> left;
    private final List<Column> right;

    KeyShape(List<Column> left, List<Column> right) {
        this.left = left;
        this.right = right;
    }

    List<Column> left() {
        return left;
    }

    List<Column> right() {
        return right;
    }

    private static Column key(ColumnType type) {
        return Column.of("key", type);
    }

    private static Column nullable(ColumnType type) {
        return Column.nullable("key", type);
    }

    private static Column second(ColumnType type) {
        return Column.of("second_key", type);
    }
}
