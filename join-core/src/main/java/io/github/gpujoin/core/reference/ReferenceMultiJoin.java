// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceSymmetricTable.Entry;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Joins more than two inputs row by row on the heap. The definition that other implementations are
 * compared with.
 */
public final class ReferenceMultiJoin extends AbstractReferenceJoin {

    private final MultiJoinSpec spec;
    private final MultiJoinCondition condition;

    // The row that is being joined.
    private int submittedInput;
    private RowRef submitted = RowRef.NONE;
    private ChangeKind change = ChangeKind.INSERT;
    private @Nullable Object key;

    public ReferenceMultiJoin(
            MultiJoinSpec spec, MultiJoinCondition condition, MemoryReservations hostMemory) {
        super(spec.inputs(), hostMemory);
        this.spec = spec;
        this.condition = condition;
    }

    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
    }

    @Override
    int join(int input, Chunk chunk, int row) {
        submittedInput = input;
        submitted = new RowRef(chunk, row);
        change = table(input).kind(chunk, row);
        key = table(input).key(chunk, row);
        expand(List.of(), change);
        return 0;
    }

    /**
     * Emits the results that begin with the rows of some inputs.
     *
     * @param rows of the inputs before the next one
     */
    private void expand(List<RowRef> rows, ChangeKind kind) {
        int input = rows.size();
        if (input == spec.inputs().size()) {
            emit(kind, rows);
            return;
        }
        List<RowRef> matches = matches(rows, input);
        if (input != submittedInput) {
            matches.forEach(match -> expand(with(rows, match), kind));
            if (matches.isEmpty() && spec.keepsUnmatched(input)) {
                expand(with(rows, RowRef.NONE), kind);
            }
        } else if (isMatch(rows, submitted)) {
            boolean isAddition = kind.isAddition();
            boolean changesUnmatched =
                    spec.keepsUnmatched(input) && matches.size() == (isAddition ? 0 : 1);
            if (changesUnmatched && isAddition) {
                expand(with(rows, RowRef.NONE), ChangeKind.DELETE);
            }
            expand(with(rows, submitted), kind);
            if (changesUnmatched && !isAddition) {
                expand(with(rows, RowRef.NONE), ChangeKind.INSERT);
            }
        }
    }

    private static List<RowRef> with(List<RowRef> rows, RowRef added) {
        List<RowRef> longer = new ArrayList<>(rows);
        longer.add(added);
        return longer;
    }

    /** Returns the rows of a table that match rows of the inputs before it, with all copies. */
    private List<RowRef> matches(List<RowRef> rows, int input) {
        List<RowRef> matches = new ArrayList<>();
        List<Entry> candidates = key == null ? List.of() : table(input).entries(key);
        for (Entry entry : candidates) {
            RowRef candidate = new RowRef(entry.chunk, entry.row);
            if (isMatch(rows, candidate)) {
                for (int copy = 0; copy < entry.copies(); copy++) {
                    matches.add(candidate);
                }
            }
        }
        return matches;
    }

    private boolean isMatch(List<RowRef> rows, RowRef candidate) {
        if (rows.isEmpty()) {
            return true;
        }
        if (key == null) {
            return false;
        }
        List<RowRef> all = with(rows, candidate);
        return condition.matches(
                rows.size(),
                all.stream().map(RowRef::chunk).toArray(Chunk[]::new),
                all.stream().mapToInt(RowRef::row).toArray());
    }
}
