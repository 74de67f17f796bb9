// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.types.RowKind;

/**
 * The number of rows of a materialised changelog, and the sum of the hashes of their values, modulo
 * 2^64. A retraction subtracts what its row added, so neither depends on the order of changes or on
 * how many changes lead to a result. Not thread-safe.
 */
final class ChangelogSum {

    private static final long NULL_HASH = 0x9E3779B97F4A7C15L;

    private final List<LogicalType> types;
    private long rowCount;
    private long checksum;

    /**
     * @throws IllegalArgumentException if a field has a type that no benchmark query returns
     */
    ChangelogSum(RowType type) {
        this.types = type.getChildren();
        types.forEach(ChangelogSum::check);
    }

    private static void check(LogicalType type) {
        switch (type.getTypeRoot()) {
            case INTEGER, DATE, BIGINT, VARCHAR, CHAR, DECIMAL, TIMESTAMP_WITHOUT_TIME_ZONE -> {}
            default ->
                    throw new IllegalArgumentException(
                            "Unsupported type in a result: type=%s. Add it to ChangelogSum."
                                    .formatted(type));
        }
    }

    /** Adds or subtracts a row by its kind. */
    void add(RowData row) {
        RowKind kind = row.getRowKind();
        boolean isAdded = kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
        long hash = hash(row);
        rowCount += isAdded ? 1 : -1;
        checksum += isAdded ? hash : -hash;
    }

    /** Returns the rows added less the rows retracted. */
    long rowCount() {
        return rowCount;
    }

    /** Returns the sum of the hashes of the rows that remain. */
    long checksum() {
        return checksum;
    }

    private long hash(RowData row) {
        long hash = types.size();
        for (int i = 0; i < types.size(); i++) {
            hash = mix(hash * 31 + (row.isNullAt(i) ? NULL_HASH : fieldHash(row, i, types.get(i))));
        }
        return hash;
    }

    private static long fieldHash(RowData row, int i, LogicalType type) {
        return switch (type.getTypeRoot()) {
            case INTEGER, DATE -> row.getInt(i);
            case BIGINT -> row.getLong(i);
            case DECIMAL -> decimalHash(row, i, (DecimalType) type);
            case TIMESTAMP_WITHOUT_TIME_ZONE ->
                    row.getTimestamp(i, ((TimestampType) type).getPrecision()).getMillisecond();
            default -> row.getString(i).hashCode();
        };
    }

    private static long decimalHash(RowData row, int i, DecimalType type) {
        return row.getDecimal(i, type.getPrecision(), type.getScale())
                .toBigDecimal()
                .unscaledValue()
                .hashCode();
    }

    /** Finaliser of MurmurHash3 (public domain, A. Appleby). */
    private static long mix(long hash) {
        long mixed = (hash ^ (hash >>> 33)) * 0xFF51AFD7ED558CCDL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return mixed ^ (mixed >>> 33);
    }
}
