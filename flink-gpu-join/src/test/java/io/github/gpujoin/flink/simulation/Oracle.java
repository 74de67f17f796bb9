// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.JobShape.DimensionShape;
import io.github.gpujoin.flink.simulation.JobShape.Rows;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;

/** The join in a few lines: what must come out of a life, each row exactly once. */
final class Oracle {

    private final Scenario scenario;
    private final List<Map<Long, List<Long>>> dimensions = new ArrayList<>();
    private final List<Map<Long, TreeMap<Long, Long>>> versions = new ArrayList<>();
    private final Map<String, Integer> expected = new TreeMap<>();

    Oracle(Scenario scenario) {
        this.scenario = scenario;
        for (int d = 0; d < scenario.shape().dimensions().size(); d++) {
            Map<Long, List<Long>> rows = new HashMap<>();
            Map<Long, TreeMap<Long, Long>> valid = new HashMap<>();
            for (StreamRecord<Row> record : rows(JobPlan.dimensionName(d))) {
                Row row = record.getValue();
                rows.computeIfAbsent(row.<Long>getFieldAs(0), key -> new ArrayList<>())
                        .add(row.getFieldAs(1));
                valid.computeIfAbsent(row.<Long>getFieldAs(0), key -> new TreeMap<>())
                        .put(record.hasTimestamp() ? record.getTimestamp() : 0, row.getFieldAs(1));
            }
            dimensions.add(rows);
            versions.add(valid);
        }
        rows(JobPlan.FACTS)
                .forEach(fact -> join(fact, 0, String.valueOf(fact.getValue().getField(0))));
        if (scenario.shape().dimensions().get(0).kind().keepsRows()) {
            addUnmatchedRows();
        }
    }

    @SuppressWarnings("unchecked")
    private List<StreamRecord<Row>> rows(String source) {
        return scenario.splits().stream()
                .filter(split -> split.source().equals(source))
                .flatMap(split -> split.script().stream())
                .filter(StreamElement::isRecord)
                .map(element -> (StreamRecord<Row>) (StreamRecord<?>) element.asRecord())
                .toList();
    }

    /** All rows of the key, or its version of the fact's time. */
    private List<Long> matches(StreamRecord<Row> fact, int dimension) {
        Long key = fact.getValue().getFieldAs(1 + dimension);
        DimensionShape shape = scenario.shape().dimensions().get(dimension);
        if (shape.rows() != Rows.VERSIONED) {
            long number = fact.getValue().<Long>getFieldAs(0);
            return dimensions.get(dimension).getOrDefault(key, List.of()).stream()
                    .filter(value -> shape.isMatch(value, number))
                    .toList();
        }
        Map.Entry<Long, Long> version =
                versions.get(dimension)
                        .getOrDefault(key, new TreeMap<>())
                        .floorEntry(fact.getTimestamp());
        return version == null ? List.of() : List.of(version.getValue());
    }

    private void join(StreamRecord<Row> fact, int dimension, String soFar) {
        if (dimension == dimensions.size()) {
            expected.merge(soFar, 1, Integer::sum);
            return;
        }
        DimensionShape shape = scenario.shape().dimensions().get(dimension);
        List<Long> matches = matches(fact, dimension);
        switch (shape.kind()) {
            case INNER, LEFT, RIGHT, FULL -> {
                matches.forEach(value -> join(fact, dimension + 1, soFar + "|" + value));
                if (matches.isEmpty() && shape.kind().keepsFacts()) {
                    join(fact, dimension + 1, soFar + "|null");
                }
            }
            case SEMI, ANTI -> {
                if (matches.isEmpty() == (shape.kind() == JobShape.Kind.ANTI)) {
                    join(fact, dimension + 1, soFar);
                }
            }
        }
    }

    /** Rows of the only dimension, the values of which are distinct, without any fact. */
    private void addUnmatchedRows() {
        Set<Long> unmatched = new HashSet<>();
        dimensions.get(0).values().forEach(unmatched::addAll);
        rows(JobPlan.FACTS).forEach(fact -> matches(fact, 0).forEach(unmatched::remove));
        unmatched.forEach(value -> expected.merge("null|" + value, 1, Integer::sum));
    }

    void check(List<String> results) {
        if (scenario.shape().changes()) {
            new ChangeOracle(scenario).check(results);
            return;
        }
        String difference = difference(withExpired(results), count -> count != 0);
        if (!difference.isEmpty()) {
            throw new LifeFailure("results are wrong, by row and count too many: " + difference);
        }
    }

    /** Results with those of facts of which none came, where that is because they waited. */
    private List<String> withExpired(List<String> results) {
        if (scenario.shape().factTtlMs() == 0) {
            return results;
        }
        Set<String> joined = new HashSet<>(behindGate());
        results.forEach(result -> joined.add(numberOf(result)));
        List<String> all = new ArrayList<>(results);
        expected.forEach(
                (result, count) -> {
                    if (!joined.contains(numberOf(result))) {
                        all.addAll(Collections.nCopies(count, result));
                    }
                });
        return all;
    }

    private static String numberOf(String result) {
        return result.split("\\|", 2)[0];
    }

    /** Numbers of facts that came when the dimensions were complete. */
    private Set<String> behindGate() {
        Set<String> behind = new HashSet<>();
        for (Split split : scenario.splits()) {
            boolean isBehind = false;
            for (StreamElement element : split.script()) {
                isBehind |= Split.isGate(element);
                if (isBehind && element.isRecord()) {
                    behind.add(String.valueOf(((Row) element.asRecord().getValue()).getField(0)));
                }
            }
        }
        return behind;
    }

    /** Checks what came before sources without an end were ended. */
    void checkBeforeEnd(List<String> results) {
        if (scenario.shape().changes()) {
            return;
        }
        String difference = difference(withExpired(results), count -> count != 0);
        if (!difference.isEmpty()) {
            throw new LifeFailure("the job stalled, by row and count too many: " + difference);
        }
    }

    String missing(List<String> results) {
        return "by row and count missing: " + difference(results, count -> count < 0);
    }

    private String difference(List<String> results, Predicate<Integer> counts) {
        Map<String, Integer> difference = new TreeMap<>();
        expected.forEach((row, count) -> difference.merge(row, -count, Integer::sum));
        results.forEach(row -> difference.merge(row, 1, Integer::sum));
        difference.values().removeIf(counts.negate());
        return difference.isEmpty() ? "" : difference.toString();
    }
}
