// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

/** Checks of the columns that a description of a join names. */
public final class ColumnChecks {

    private ColumnChecks() {}

    /**
     * Checks that a column exists.
     *
     * @param role of the column, which starts the message
     * @param input name of the input, for the message
     * @return the column
     * @throws IllegalArgumentException if the schema has no such column
     */
    public static Column require(String role, String input, ChunkSchema schema, int column) {
        if (column < 0 || column >= schema.size()) {
            throw new IllegalArgumentException(
                    "%s does not exist: input=%s, column=%d, columns=%d"
                            .formatted(role, input, column, schema.size()));
        }
        return schema.column(column);
    }

    /**
     * Checks that a column contains integers of a fixed width.
     *
     * @throws IllegalArgumentException if it is missing, nullable or of another type
     */
    public static void requireInteger(String role, String input, ChunkSchema schema, int column) {
        requireInteger(role, input, schema, column, "");
    }

    /**
     * Does the same.
     *
     * @param remedy appended to the message if the column is nullable or of another type
     */
    public static void requireInteger(
            String role, String input, ChunkSchema schema, int column, String remedy) {
        Column found = require(role, input, schema, column);
        if (!found.type().isInteger() || !found.isFixed()) {
            String fault = found.type().isInteger() ? "may be null" : "is not an integer";
            throw new IllegalArgumentException(
                    "%s %s: input=%s, column=%s, type=%s%s"
                            .formatted(role, fault, input, found.name(), found.type(), remedy));
        }
    }

    /**
     * Checks that a column contains INT32 of a fixed width.
     *
     * @throws IllegalArgumentException if it is missing, nullable or of another type
     */
    public static void requireInt32(String role, String input, ChunkSchema schema, int column) {
        requireInteger(role, input, schema, column);
        if (schema.column(column).type() != ColumnType.INT32) {
            throw new IllegalArgumentException(
                    role + " is not INT32: input=" + input + ", column=" + schema.column(column));
        }
    }

    /**
     * Checks that a column contains text or bytes.
     *
     * @throws IllegalArgumentException if it is missing or of another type
     */
    public static void requireVariableWidth(
            String role, String input, ChunkSchema schema, int column) {
        Column found = require(role, input, schema, column);
        if (found.type().isFixedWidth()) {
            throw new IllegalArgumentException(
                    "%s has a fixed width: input=%s, column=%s".formatted(role, input, found));
        }
    }
}
