// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.List;

/**
 * Predictions of one kind.
 *
 * @param id short name, unique
 * @param parameter what the columns vary
 * @param columns values of the parameter
 * @param unit of all values
 */
public record Grid(
        String id,
        String title,
        String parameter,
        List<String> columns,
        String unit,
        List<Row> rows) {

    /** Values of one case, one a column. */
    public record Row(String label, List<Double> values) {}

    /** Checks that each row has a value for each column. */
    public Grid {
        for (Row row : rows) {
            if (row.values().size() != columns.size()) {
                throw new IllegalArgumentException(
                        "Row and columns differ in length: row=%s, values=%d, columns=%d. Add the missing ones."
                                .formatted(row.label(), row.values().size(), columns.size()));
            }
        }
    }
}
