package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import java.io.Serializable;
import java.util.List;

/**
 * What an engine joins: facts against one or more dimensions, each fact row against all of them.
 * The result of a fact row is the cross product of its matches.
 */
public record JoinSpec(ChunkSchema factSchema, List<DimensionSpec> dimensions)
        implements Serializable {

    public JoinSpec {
        dimensions = List.copyOf(dimensions);
        if (dimensions.isEmpty()) {
            throw new IllegalArgumentException("a join has at least one dimension: dimensions=[]");
        }
        for (DimensionSpec dimension : dimensions) {
            requireKey("facts of " + dimension.name(), factSchema, dimension.factKeyColumn());
        }
    }

    static void requireKey(String name, ChunkSchema schema, int column) {
        if (column < 0 || column >= schema.size()) {
            throw new IllegalArgumentException(
                    "the key is a column of its side: side=" + name + ", column=" + column);
        }
        Column key = schema.column(column);
        if (!key.isFixed() || !key.type().isInteger()) {
            throw new IllegalArgumentException(
                    "a join key is INT32 or INT64 and not nullable: side="
                            + name
                            + ", column="
                            + key);
        }
    }
}
