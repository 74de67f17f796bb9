// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.AbstractBulkJoin;
import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngine.JoinedRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Joins on the heap with a {@code HashMap} of the right rows. */
public final class ReferenceBulkJoin extends AbstractBulkJoin {

    private final ReferenceKeys keys;
    private final List<JoinedRow> leftRows = new ArrayList<>();
    private final List<JoinedRow> rightRows = new ArrayList<>();
    private final Map<List<Object>, List<JoinedRow>> table = new HashMap<>();
    private final Set<List<Object>> matchedKeys = new HashSet<>();

    /** Null unless the join returns rows. */
    private final @Nullable ReferenceRows rows;

    /** Null unless the join returns groups. */
    private final @Nullable ReferenceGroups groups;

    private final Deque<BulkResult> ready = new ArrayDeque<>();
    private Iterator<Runnable> steps = List.<Runnable>of().iterator();
    private long count;

    public ReferenceBulkJoin(BulkJoinSpec spec) {
        super(spec);
        this.keys = new ReferenceKeys(spec);
        this.rows = spec.output() instanceof BulkOutput.Rows ? new ReferenceRows(spec) : null;
        this.groups =
                spec.output() instanceof BulkOutput.Groups output
                        ? new ReferenceGroups(output.aggregation())
                        : null;
    }

    @Override
    protected void append(JoinSide side, Chunk chunk) {
        Chunk kept = chunk.onHeap();
        List<JoinedRow> target = side == JoinSide.LEFT ? leftRows : rightRows;
        for (int row = 0; row < kept.rowCount(); row++) {
            target.add(new JoinedRow(kept, row));
        }
    }

    @Override
    protected BulkJoinPlan start() {
        for (JoinedRow row : rightRows) {
            List<Object> key = keys.of(JoinSide.RIGHT, row);
            if (key != null) {
                table.computeIfAbsent(key, k -> new ArrayList<>()).add(row);
            }
        }
        List<Runnable> all = new ArrayList<>();
        leftRows.forEach(row -> all.add(() -> joinLeft(row)));
        rightRows.forEach(row -> all.add(() -> keepUnmatchedRight(row)));
        all.add(this::end);
        steps = all.iterator();
        return new BulkJoinPlan(
                BulkAlgorithm.REFERENCE,
                "The reference joins row by row: leftRows=%d, rightRows=%d."
                        .formatted(leftRows.size(), rightRows.size()));
    }

    private void joinLeft(JoinedRow left) {
        BulkJoinKind kind = spec().kind();
        List<Object> key = keys.of(JoinSide.LEFT, left);
        List<JoinedRow> matches = key == null ? List.of() : table.getOrDefault(key, List.of());
        if (matches.isEmpty()) {
            if (kind.keepsUnmatched(JoinSide.LEFT)) {
                emit(left, null);
            }
        } else if (kind.returnsPairs()) {
            matchedKeys.add(key);
            matches.forEach(right -> emit(left, right));
        } else if (kind == BulkJoinKind.SEMI) {
            emit(left, null);
        }
    }

    private void keepUnmatchedRight(JoinedRow right) {
        List<Object> key = keys.of(JoinSide.RIGHT, right);
        boolean isMatched = key != null && matchedKeys.contains(key);
        if (!isMatched && spec().kind().keepsUnmatched(JoinSide.RIGHT)) {
            emit(null, right);
        }
    }

    private void emit(@Nullable JoinedRow left, @Nullable JoinedRow right) {
        if (rows != null) {
            rows.add(left, right, ready::add);
        } else if (groups != null) {
            List<JoinedRow> both = new ArrayList<>();
            both.add(left);
            both.add(right);
            groups.add(null, both);
            if (groups.isFull()) {
                ready.add(new BulkResult.Groups(groups.drain()));
            }
        } else {
            count++;
        }
    }

    private void end() {
        if (rows != null) {
            for (ResultSides sides : ResultSides.values()) {
                rows.seal(sides, ready::add);
            }
        } else if (groups != null) {
            ready.add(new BulkResult.Groups(groups.drain()));
        } else {
            ready.add(new BulkResult.Count(count));
        }
    }

    @Override
    protected @Nullable BulkResult next(long timeoutNs) {
        while (ready.isEmpty() && steps.hasNext()) {
            steps.next().run();
        }
        return ready.poll();
    }

    @Override
    protected boolean isExhausted() {
        return ready.isEmpty() && !steps.hasNext();
    }

    @Override
    protected long memoryBytes() {
        return 0;
    }

    @Override
    protected void release() {
        leftRows.clear();
        rightRows.clear();
        table.clear();
        ready.clear();
        steps = List.<Runnable>of().iterator();
    }
}
