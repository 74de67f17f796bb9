// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Collects the keys of the dimensions of one subtask while they load. For the task's thread. */
public final class DimensionKeys {

    private final JoinSpec spec;
    private Map<Integer, KeyFilterBuilder> builders = new TreeMap<>();

    public DimensionKeys(JoinSpec spec, FilterPlan plan) {
        this.spec = spec;
        plan.dimensions()
                .forEach(d -> builders.put(d.number(), new KeyFilterBuilder(plan.maxBytes())));
    }

    /** Adds the keys of a chunk of any dimension. */
    public void add(Chunk chunk) {
        KeyFilterBuilder builder = builders.get(chunk.dimension());
        if (builder == null) {
            return;
        }
        int column = spec.dimensions().get(chunk.dimension()).keyColumn();
        int widthBytes = chunk.schema().column(column).type().widthBytes();
        byte @Nullable [] array = chunk.array();
        long start = chunk.columnStart(column);
        for (int row = 0; row < chunk.rowCount(); row++) {
            builder.add(Memory.getInteger(array, start + (long) widthBytes * row, widthBytes));
        }
    }

    /** Drops the keys of a dimension that has rows which are not {@linkplain #add added}. */
    public void drop(int dimension) {
        builders.remove(dimension);
    }

    /**
     * Returns the keys of complete dimensions by number, without dimensions of which keys are
     * missing. Afterwards {@link #add} has no effect.
     */
    public Map<Integer, KeyFilterBuilder> complete() {
        Map<Integer, KeyFilterBuilder> complete = builders;
        builders = Map.of();
        return complete;
    }
}
