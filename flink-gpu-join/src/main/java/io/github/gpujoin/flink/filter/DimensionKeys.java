// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** Collects the keys of the dimensions of one subtask while they load. For the task's thread. */
public final class DimensionKeys {

    private final JoinSpec spec;
    private final Map<Integer, KeyFilterBuilder> builders = new TreeMap<>();

    public DimensionKeys(JoinSpec spec, FilterPlan plan) {
        this.spec = spec;
        plan.dimensions().forEach(d -> builders.put(d, new KeyFilterBuilder(plan.maxBytes())));
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

    /**
     * Builds the filters of complete dimensions; afterwards {@link #add} has no effect.
     *
     * @param isWhole whether this subtask received all rows of a dimension
     */
    public List<DimensionFilter> complete(IntPredicate isWhole) {
        List<DimensionFilter> filters = new ArrayList<>();
        builders.forEach(
                (number, builder) -> {
                    DimensionSpec dimension = spec.dimensions().get(number);
                    if (isWhole.test(number)) {
                        builder.build()
                                .ifPresent(
                                        keys ->
                                                filters.add(
                                                        new DimensionFilter(
                                                                dimension.name(),
                                                                dimension.factKeyColumn(),
                                                                keys)));
                    }
                });
        builders.clear();
        return List.copyOf(filters);
    }
}
