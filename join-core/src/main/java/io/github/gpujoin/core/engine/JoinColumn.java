// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.Serializable;

/**
 * A column of the facts or of a dimension.
 *
 * @param side number of the dimension, or {@link ChunkDescriptor#FACTS}
 * @param column index in the schema of the facts or of the dimension
 */
public record JoinColumn(int side, int column) implements Serializable {

    public static JoinColumn ofFact(int column) {
        return new JoinColumn(ChunkDescriptor.FACTS, column);
    }

    public boolean isFact() {
        return side == ChunkDescriptor.FACTS;
    }

    /**
     * Returns the type of the column in the schemas of a join.
     *
     * @throws IndexOutOfBoundsException if the join has no such dimension or column
     */
    public ColumnType type(JoinSpec spec) {
        return (isFact() ? spec.factSchema() : spec.dimensions().get(side).schema())
                .column(column)
                .type();
    }
}
