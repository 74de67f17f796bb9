// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.record.KeyColumn;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The key columns in the chunks of a side.
 *
 * @param own key columns that are columns of the side
 * @param made key columns that packers compute from other columns
 * @param keptNulls bits in the column of null keys, by key column whose rows are kept if it is null
 * @param partitionKey key column that partitions the rows, if any does
 */
record InputKeys(
        Set<String> own,
        Collection<KeyColumn<Object>> made,
        Map<String, Integer> keptNulls,
        String partitionKey) {

    static InputKeys ofDimension(JoinKey key) {
        return key.made() == null
                ? new InputKeys(Set.of(key.column()), List.of(), Map.of(), key.column())
                : new InputKeys(Set.of(), List.of(key.made()), Map.of(), key.column());
    }

    /**
     * Returns the key columns of the facts.
     *
     * @param keys of all dimensions; several may share a column of the facts
     * @param first key of the dimension that partitions the facts, or any key
     */
    static InputKeys ofFacts(
            Collection<JoinKey> keys, JoinKey first, Map<String, Integer> keptNulls) {
        Set<JoinKey> all = new LinkedHashSet<>(List.of(first));
        all.addAll(keys);
        Set<String> own = new LinkedHashSet<>();
        Map<String, KeyColumn<Object>> made = new LinkedHashMap<>();
        for (JoinKey key : all) {
            if (key.madeOfFacts() == null) {
                own.add(key.factColumn());
            } else {
                made.putIfAbsent(key.factColumn(), key.madeOfFacts());
            }
        }
        return new InputKeys(own, made.values(), keptNulls, first.factColumn());
    }
}
