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
 * @param computed key columns that packers compute from other columns
 * @param keptNulls bits in the column of null keys, by key column whose rows are kept if it is null
 * @param partitionKey key column that partitions the rows, if any does
 */
record InputKeys(
        Set<String> own,
        Collection<KeyColumn<Object>> computed,
        Map<String, Integer> keptNulls,
        String partitionKey) {

    static InputKeys ofDimension(JoinKey key) {
        return key.computedKey() == null
                ? new InputKeys(Set.of(key.column()), List.of(), Map.of(), key.column())
                : new InputKeys(Set.of(), List.of(key.computedKey()), Map.of(), key.column());
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
        Map<String, KeyColumn<Object>> computed = new LinkedHashMap<>();
        for (JoinKey key : all) {
            if (key.computedFactKey() == null) {
                own.add(key.factColumn());
            } else {
                computed.putIfAbsent(key.factColumn(), key.computedFactKey());
            }
        }
        return new InputKeys(own, computed.values(), keptNulls, first.factColumn());
    }
}
