// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ProbeQueue;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.VariableWidthColumn;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Joins with a {@code HashMap} of rows by key and nested loops. It is simple enough to be seen to
 * be correct, slow, and the oracle in the tests of the other engines.
 */
public final class ReferenceJoinEngine extends AbstractJoinEngine<ReferenceJoinEngine.Progress> {

    static final int BATCH_ROWS = 1024;
    private static final int MAX_IN_FLIGHT = 4;

    /** A row: its chunk and its number in the chunk. */
    record JoinedRow(@Nullable Chunk chunk, int row) {}

    /** Replaces the build row of a fact without a match. */
    private static final JoinedRow NO_MATCH = new JoinedRow(null, -1);

    private final List<Map<Long, List<JoinedRow>>> tables = new ArrayList<>();
    // By identity: each build row is one object, and hashing it would read the whole chunk.
    private final Map<JoinedRow, Region> variableWidth = new IdentityHashMap<>();
    private final Region memory;
    private ResultBatch batch;
    private final @Nullable ReferenceGroups groups;

    public ReferenceJoinEngine(JoinSpec spec) {
        super(spec, MAX_IN_FLIGHT);
        spec.dimensions().forEach(dimension -> tables.add(new HashMap<>()));
        ResultLayout layout = new ResultLayout(spec, BATCH_ROWS);
        this.memory = Region.allocate(layout.lengthBytes());
        this.batch = new ResultBatch(layout, memory.address());
        this.groups = spec.isAggregating() ? new ReferenceGroups(spec.aggregation()) : null;
    }

    @Override
    protected void append(int dimension, Chunk chunk) {
        DimensionSpec side = spec().dimensions().get(dimension);
        Map<Long, List<JoinedRow>> table = tables.get(dimension);
        for (int row = 0; row < chunk.rowCount(); row++) {
            long key = chunk.getLong(side.keyColumn(), row);
            List<JoinedRow> rows = table.computeIfAbsent(key, k -> new ArrayList<>());
            JoinedRow joined = new JoinedRow(chunk, row);
            if (side.isChangelog()) {
                rows.removeIf(other -> areOfOneKey(side, other, joined));
            }
            if (!side.isChangelog()
                    || RowChange.of(chunk.getInt(side.changeColumn(), row)) == RowChange.UPSERT) {
                rows.add(joined);
            }
        }
        if (state() == EngineState.JOINING) {
            forgetVariableWidth();
        }
    }

    /** Whether rows with equal integers as keys have one key. */
    private static boolean areOfOneKey(DimensionSpec side, JoinedRow one, JoinedRow other) {
        if (!side.isHashed()) {
            return true;
        }
        VariableWidthColumn key = VariableWidthColumn.of(side.schema(), side.keyBytesColumn());
        return VariableWidthColumn.areEqual(
                one.chunk.array(),
                key.locate(one.chunk, one.row),
                other.chunk.array(),
                key.locate(other.chunk, other.row));
    }

    /**
     * Frees copies of rows that may be deleted. A new layout object tells readers that earlier
     * addresses are invalid.
     */
    private void forgetVariableWidth() {
        variableWidth.values().forEach(Region::close);
        variableWidth.clear();
        batch = new ResultBatch(new ResultLayout(spec(), BATCH_ROWS), memory.address());
    }

    /** The tables are already complete: {@link #append} fills them. */
    @Override
    protected boolean buildTables(long maxRows) {
        return true;
    }

    @Override
    protected long tableBytes() {
        return buildBytes();
    }

    @Override
    protected Progress open(InFlightProbe pending) {
        return new Progress(pending);
    }

    @Override
    protected @Nullable ResultBatch nextBatch() {
        Progress head = queue().head();
        if (head == null || awaitsDrain()) {
            return null;
        }
        int rows = groups == null ? join(head) : aggregate(head);
        batch.set(head.chunk(), rows, head.hasMore() ? head.nextRow : head.chunk().rowCount());
        queue().delivered(batch);
        return batch;
    }

    private int join(Progress head) {
        int rows = 0;
        while (rows < BATCH_ROWS && head.hasMore()) {
            write(rows++, head.nextRow, head.next());
        }
        return rows;
    }

    private int aggregate(Progress head) {
        for (int i = 0; i < BATCH_ROWS && head.hasMore() && !awaitsDrain(); i++) {
            int probeRow = head.nextRow;
            groups.add(new JoinedRow(head.chunk(), probeRow), head.next());
        }
        return 0;
    }

    @Override
    public boolean awaitsDrain() {
        return groups != null && groups.isFull();
    }

    @Override
    protected GroupRows drainedGroups() {
        return groups.drain();
    }

    private void write(int row, int probeRow, List<JoinedRow> matches) {
        Memory.putInt(batch.probeRowAddress() + 4L * row, probeRow);
        for (int d = 0; d < matches.size(); d++) {
            DimensionSpec side = spec().dimensions().get(d);
            JoinedRow match = matches.get(d);
            if (side.kind().hasNullPayload()) {
                boolean isMatched = match != NO_MATCH;
                Memory.putByte(null, batch.matchedAddress(d) + row, (byte) (isMatched ? 1 : 0));
            }
            if (match == NO_MATCH) {
                writeNothing(row, d);
                continue;
            }
            List<Integer> columns = side.payloadColumns();
            for (int i = 0; i < columns.size(); i++) {
                int width = batch.layout().payloadWidth(d, i);
                long source = match.chunk.columnStart(columns.get(i)) + (long) width * match.row;
                long target = batch.payloadAddress(d, i) + (long) width * row;
                Memory.copy(match.chunk.array(), source, null, target, width);
            }
            if (side.hasVariableWidthPayload()) {
                long ref = variableWidth.computeIfAbsent(match, this::variableWidthCopy).address();
                Memory.putLong(batch.variableWidthAddress(d) + 8L * row, ref);
            }
        }
    }

    private void writeNothing(int row, int dimension) {
        for (int i = 0; i < batch.layout().payloadCount(dimension); i++) {
            long width = batch.layout().payloadWidth(dimension, i);
            Memory.fill(null, batch.payloadAddress(dimension, i) + width * row, width, (byte) 0);
        }
        if (spec().dimensions().get(dimension).hasVariableWidthPayload()) {
            Memory.putLong(batch.variableWidthAddress(dimension) + 8L * row, 0);
        }
    }

    private Region variableWidthCopy(JoinedRow match) {
        long start = match.chunk.variableWidthStart(match.row);
        int length = (int) (match.chunk.variableWidthEnd(match.row) - start);
        Region copy = Region.allocate(4L + length);
        Memory.putInt(copy.address(), length);
        Memory.copy(match.chunk.array(), start, null, copy.address() + 4, length);
        return copy;
    }

    @Override
    protected void release() {
        tables.clear();
        variableWidth.values().forEach(Region::close);
        variableWidth.clear();
        memory.close();
    }

    /**
     * Enumerates the cross product of the matches of each probe row; the last dimension varies
     * fastest.
     */
    final class Progress extends ProbeQueue.Probe {
        private int nextRow;
        private List<List<JoinedRow>> choices;
        private int[] choice;

        Progress(InFlightProbe pending) {
            super(pending);
            this.nextRow = firstRow();
            findChoices();
        }

        boolean hasMore() {
            return nextRow < chunk().rowCount();
        }

        List<JoinedRow> next() {
            List<JoinedRow> result = new ArrayList<>();
            for (int d = 0; d < choice.length; d++) {
                result.add(choices.get(d).get(choice[d]));
            }
            int d = choice.length - 1;
            while (d >= 0 && ++choice[d] == choices.get(d).size()) {
                choice[d--] = 0;
            }
            if (d < 0) {
                nextRow++;
                findChoices();
            }
            return result;
        }

        private boolean passesFilters() {
            return spec().filters().stream()
                    .allMatch(f -> f.values().contains(chunk().getLong(f.column(), nextRow)));
        }

        /** Returns the build rows that match the next probe row; empty if its key is null. */
        private List<JoinedRow> matches(int dimension) {
            if (spec().hasNullKeys()
                    && (chunk().getInt(spec().nullKeysColumn(), nextRow) >> dimension & 1) != 0) {
                return List.of();
            }
            int keyColumn = spec().dimensions().get(dimension).factKeyColumn();
            return tables.get(dimension)
                    .getOrDefault(chunk().getLong(keyColumn, nextRow), List.of());
        }

        /**
         * Returns the build rows that the results of a probe row contain, one of them in each
         * result.
         */
        private static List<JoinedRow> choices(JoinKind kind, List<JoinedRow> matches) {
            if (matches.isEmpty()) {
                return kind.keepsUnmatched() ? List.of(NO_MATCH) : List.of();
            }
            return switch (kind) {
                case INNER, LEFT -> matches;
                case SEMI -> matches.subList(0, 1);
                case ANTI -> List.of();
            };
        }

        private void findChoices() {
            for (; hasMore(); nextRow++) {
                if (!passesFilters()) {
                    continue;
                }
                choices = new ArrayList<>();
                for (int d = 0; d < tables.size(); d++) {
                    choices.add(choices(spec().dimensions().get(d).kind(), matches(d)));
                }
                if (choices.stream().noneMatch(List::isEmpty)) {
                    choice = new int[choices.size()];
                    return;
                }
            }
        }
    }
}
