package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ColumnType;
import java.io.Serializable;

/**
 * A column of one side of a join.
 *
 * @param side number of a dimension, or {@link ChunkDescriptor#FACTS}
 * @param column in the side's schema
 */
public record JoinColumn(int side, int column) implements Serializable {

    public static JoinColumn ofFact(int column) {
        return new JoinColumn(ChunkDescriptor.FACTS, column);
    }

    public boolean isFact() {
        return side == ChunkDescriptor.FACTS;
    }

    /** Type of the column, which is one of the join. */
    public ColumnType type(JoinSpec spec) {
        return (isFact() ? spec.factSchema() : spec.dimensions().get(side).schema())
                .column(column)
                .type();
    }
}
