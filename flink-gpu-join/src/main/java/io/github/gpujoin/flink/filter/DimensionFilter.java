// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilter;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The keys of a complete dimension. A fact whose key is not among them has no result. Immutable.
 *
 * @param dimension name of the dimension
 * @param factColumn index of the key in the packed facts
 * @param keys of the dimension
 */
public record DimensionFilter(String dimension, int factColumn, KeyFilter keys) {

    DimensionFilter(FilteringDimension of, KeyFilter keys) {
        this(of.name(), of.factColumn(), keys);
    }

    /**
     * Builds the filters of some dimensions, except those with too many keys.
     *
     * @param keys all keys of each dimension, by its number
     */
    static List<DimensionFilter> of(FilterPlan plan, Map<Integer, KeyFilterBuilder> keys) {
        List<DimensionFilter> filters = new ArrayList<>();
        for (FilteringDimension dimension : plan.dimensions()) {
            KeyFilterBuilder builder = keys.get(dimension.number());
            if (builder != null) {
                builder.build()
                        .ifPresent(filter -> filters.add(new DimensionFilter(dimension, filter)));
            }
        }
        return List.copyOf(filters);
    }
}
