// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * What may come out of a life with one left-joined dimension that changes. A fact sees some value
 * that its key had. A fact behind its split's gate sees the last one; where several splits change a
 * key, the last one of any, but all such facts the same; none where rows live for a time.
 */
final class ChangeOracle {

    private static final String NONE = "null";

    private final Map<Long, Set<String>> everOfKey = new HashMap<>();
    private final Map<Long, Set<String>> lastOfKey = new HashMap<>();
    private final Map<String, Long> keyOfFact = new HashMap<>();
    private final Set<String> behindGate = new HashSet<>();
    private final boolean expires;

    ChangeOracle(Scenario scenario) {
        expires = scenario.shape().rowTtlMs() > 0;
        for (Split split : scenario.splits()) {
            if (split.source().equals(JobPlan.FACTS)) {
                addFacts(split);
            } else {
                addChanges(split);
            }
        }
    }

    private void addFacts(Split split) {
        boolean isBehind = false;
        for (StreamElement element : split.script()) {
            isBehind |= Split.isGate(element);
            if (element.isRecord()) {
                Row fact = (Row) element.asRecord().getValue();
                String number = String.valueOf(fact.getField(0));
                keyOfFact.put(number, fact.getFieldAs(1));
                if (isBehind) {
                    behindGate.add(number);
                }
            }
        }
    }

    private void addChanges(Split split) {
        Map<Long, String> last = new HashMap<>();
        for (StreamElement element : split.script()) {
            if (element.isRecord()) {
                Row change = (Row) element.asRecord().getValue();
                String value =
                        change.getKind() == RowKind.DELETE
                                ? NONE
                                : String.valueOf(change.getField(1));
                Long key = change.getFieldAs(0);
                last.put(key, value);
                everOfKey.computeIfAbsent(key, k -> new HashSet<>(Set.of(NONE))).add(value);
            }
        }
        last.forEach(
                (key, value) -> lastOfKey.computeIfAbsent(key, k -> new HashSet<>()).add(value));
    }

    void check(List<String> results) {
        Set<String> missing = new HashSet<>(keyOfFact.keySet());
        Map<Long, String> seen = new HashMap<>();
        List<String> wrong = new ArrayList<>();
        for (String result : results) {
            String number = result.substring(0, result.indexOf('|'));
            String value = result.substring(number.length() + 1);
            Long key = keyOfFact.get(number);
            boolean right =
                    missing.remove(number)
                            && everOfKey.getOrDefault(key, Set.of(NONE)).contains(value);
            if (right && behindGate.contains(number)) {
                Set<String> last =
                        expires ? Set.of(NONE) : lastOfKey.getOrDefault(key, Set.of(NONE));
                right = last.contains(value) && value.equals(seen.computeIfAbsent(key, k -> value));
            }
            if (!right) {
                wrong.add(result);
            }
        }
        if (!wrong.isEmpty() || !missing.isEmpty()) {
            throw new LifeFailure(
                    "results of changes are wrong: rows=" + wrong + ", missing facts=" + missing);
        }
    }
}
