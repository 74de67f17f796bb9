// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/** What a user has said about a regular join of two streams. Not thread-safe. */
public final class RegularJoinDescription {

    private final Map<JoinSide, List<String>> keys = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, List<String>> uniqueColumns = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, List<String>> selected = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, Long> ttlsMs = new EnumMap<>(JoinSide.class);
    private BulkJoinKind kind = BulkJoinKind.INNER;
    private boolean matchesNulls;
    private String changeColumn = "row_kind";
    private @Nullable JoinFunction<RowData, RowData, Boolean> condition;
    private JoinUid uid = JoinUid.of("gpu-join");

    public RegularJoinDescription() {
        keys.put(JoinSide.LEFT, new ArrayList<>());
        keys.put(JoinSide.RIGHT, new ArrayList<>());
    }

    public void addKey(String left, String right) {
        keys.get(JoinSide.LEFT).add(left);
        keys.get(JoinSide.RIGHT).add(right);
    }

    public void matchNulls() {
        matchesNulls = true;
    }

    public void kind(BulkJoinKind of) {
        kind = of;
    }

    public void leftChangelog(List<String> unique) {
        uniqueColumns.put(JoinSide.LEFT, List.copyOf(unique));
    }

    public void rightChangelog(List<String> unique) {
        uniqueColumns.put(JoinSide.RIGHT, List.copyOf(unique));
    }

    public void changeColumn(String column) {
        changeColumn = column;
    }

    public void select(List<String> left, List<String> right) {
        selected.put(JoinSide.LEFT, List.copyOf(left));
        selected.put(JoinSide.RIGHT, List.copyOf(right));
    }

    public void condition(JoinFunction<RowData, RowData, Boolean> matches) {
        condition = matches;
    }

    /**
     * @throws IllegalArgumentException if a duration is not positive
     */
    public void ttl(Duration left, Duration right) {
        ttlsMs.put(JoinSide.LEFT, positiveMs("left", left));
        ttlsMs.put(JoinSide.RIGHT, positiveMs("right", right));
    }

    private static long positiveMs(String side, Duration ttl) {
        if (ttl.toMillis() <= 0) {
            throw new IllegalArgumentException(
                    "Time to live of the %s input is not positive: ttl=%s. Omit .ttl(...) to keep rows."
                            .formatted(side, ttl));
        }
        return ttl.toMillis();
    }

    public void uid(JoinUid of) {
        uid = of;
    }

    public JoinUid uid() {
        return uid;
    }

    BulkJoinKind kind() {
        return kind;
    }

    boolean matchesNulls() {
        return matchesNulls;
    }

    String changeColumn() {
        return changeColumn;
    }

    @Nullable JoinFunction<RowData, RowData, Boolean> condition() {
        return condition;
    }

    /** Returns the selected columns of a side, or null for all. */
    @Nullable List<String> selected(JoinSide side) {
        return selected.get(side);
    }

    long ttlMs(JoinSide side) {
        return ttlsMs.getOrDefault(side, SymmetricInput.FOREVER);
    }

    /**
     * Returns the key columns of a side.
     *
     * @throws IllegalArgumentException if there are none
     */
    List<String> keys(JoinSide side) {
        if (keys.get(side).isEmpty()) {
            throw new IllegalArgumentException(
                    "No key columns: uid=%s. Add .on(leftColumn, rightColumn)."
                            .formatted(uid.text()));
        }
        return keys.get(side);
    }

    boolean isChangelog(JoinSide side) {
        return uniqueColumns.containsKey(side);
    }

    /** Returns the unique columns of a changelog that the join key does not contain. */
    List<String> uniqueColumns(JoinSide side) {
        return identity(side) == RowIdentity.UNIQUE_COLUMNS ? uniqueColumns.get(side) : List.of();
    }

    RowIdentity identity(JoinSide side) {
        List<String> unique = uniqueColumns.get(side);
        if (unique == null) {
            return RowIdentity.APPEND_ONLY;
        }
        if (unique.isEmpty()) {
            return RowIdentity.MULTISET;
        }
        return keys.get(side).containsAll(unique)
                ? RowIdentity.JOIN_KEY
                : RowIdentity.UNIQUE_COLUMNS;
    }

    /** Whether results may have kinds of change other than INSERT. */
    boolean hasChanges() {
        return kind != BulkJoinKind.INNER && kind != BulkJoinKind.SEMI
                || isChangelog(JoinSide.LEFT)
                || isChangelog(JoinSide.RIGHT);
    }
}
