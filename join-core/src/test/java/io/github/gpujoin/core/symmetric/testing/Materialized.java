// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** Pairs of rows with their number. Either row of a pair may be null. */
public final class Materialized {

    /** A pair. */
    private record Pair(@Nullable Row left, @Nullable Row right) {}

    private final Map<Pair, Integer> pairs = new HashMap<>();

    /**
     * Applies a result.
     *
     * @throws AssertionError if it retracts a pair that is not there
     */
    public void apply(JoinResult result) {
        Pair pair = new Pair(result.left(), result.right());
        int count = pairs.getOrDefault(pair, 0) + (result.kind().isAddition() ? 1 : -1);
        if (count < 0) {
            throw new AssertionError("a result is retracted that was not emitted: " + result);
        }
        if (count == 0) {
            pairs.remove(pair);
        } else {
            pairs.put(pair, count);
        }
    }

    /** Joins rows by comparing all pairs. */
    public static Materialized join(
            BulkJoinKind kind,
            Collection<Row> left,
            Collection<Row> right,
            BiPredicate<Row, Row> condition) {
        Materialized joined = new Materialized();
        for (Row l : left) {
            List<Row> matches = right.stream().filter(r -> isMatch(l, r, condition)).toList();
            if (kind.returnsPairs()) {
                matches.forEach(r -> joined.add(l, r));
            }
            boolean isKept =
                    matches.isEmpty()
                            ? kind.keepsUnmatched(JoinSide.LEFT)
                            : kind == BulkJoinKind.SEMI;
            if (isKept) {
                joined.add(l, null);
            }
        }
        if (kind.keepsUnmatched(JoinSide.RIGHT)) {
            right.stream()
                    .filter(r -> left.stream().noneMatch(l -> isMatch(l, r, condition)))
                    .forEach(r -> joined.add(null, r));
        }
        return joined;
    }

    private static boolean isMatch(Row left, Row right, BiPredicate<Row, Row> condition) {
        return left.key() != null && left.key().equals(right.key()) && condition.test(left, right);
    }

    private void add(@Nullable Row left, @Nullable Row right) {
        pairs.merge(new Pair(left, right), 1, Integer::sum);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Materialized that && pairs.equals(that.pairs);
    }

    @Override
    public int hashCode() {
        return pairs.hashCode();
    }

    @Override
    public String toString() {
        return pairs.toString();
    }
}
