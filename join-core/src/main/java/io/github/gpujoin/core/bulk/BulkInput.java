// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnChecks;
import java.io.Serializable;
import java.util.List;

/**
 * One input of a bulk join.
 *
 * @param name prefix of the input's columns in results, and its name in messages
 * @param schema of the chunks
 * @param keyColumns indexes in {@code schema}, at least one, in the order of the other input's.
 *     Integers of any width, texts or bytes, also nullable ones.
 */
public record BulkInput(String name, ChunkSchema schema, List<Integer> keyColumns)
        implements Serializable {

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException if the name is empty, there is no key column, or a key
     *     column does not exist or contains floating-point numbers
     */
    public BulkInput {
        keyColumns = List.copyOf(keyColumns);
        if (name.isEmpty()) {
            throw new IllegalArgumentException("Input has no name: schema=" + schema);
        }
        if (keyColumns.isEmpty()) {
            throw new IllegalArgumentException("Input has no key columns: input=" + name);
        }
        for (int column : keyColumns) {
            ColumnChecks.require("Key column", name, schema, column);
            if (schema.column(column).type().isFloat()) {
                throw new IllegalArgumentException(
                        "Key column contains floating-point numbers: input=%s, column=%s. Cast it."
                                .formatted(name, schema.column(column)));
            }
        }
    }
}
