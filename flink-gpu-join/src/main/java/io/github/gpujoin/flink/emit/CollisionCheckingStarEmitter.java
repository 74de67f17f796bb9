// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Checks hash collisions of a star join: drops result rows whose full keys differ although their
 * hashes are equal. Another emitter emits the rest.
 *
 * <p>A row holds one candidate of each dimension, and the rows of a fact are all combinations of
 * its candidates. With c the candidate in such a dimension, the row is
 *
 * <pre>
 *          keys are equal                          they are not
 *   INNER  emitted                                 dropped
 *   SEMI   emitted if c is the first such one      dropped
 *   LEFT   emitted                                 held if c is the first such one
 *   ANTI   dropped                                 held if c is the first such one
 * </pre>
 *
 * <p>A held row is emitted without c when the fact is complete, unless a candidate with an equal
 * key has arrived by then. It represents all rows without a match. The first candidate is the same
 * in all combinations, so each of them is emitted once. Hashes rarely collide, so rows are rarely
 * held.
 */
final class CollisionCheckingStarEmitter<OUT> implements ResultEmitter<OUT> {

    private static final int MAX_DIMENSIONS = Long.SIZE;

    /**
     * A row that is a result if its fact has no match in the dimensions of {@code unmatched}.
     *
     * @param unmatched bits of those dimensions
     */
    private record Held(RowCopy row, long unmatched) {}

    /** State of a fact's candidates; bits and indexes are those of {@link #keys}. */
    private static final class Fact {
        private long matched;
        private long hasFirst;
        private final long[] first;
        private List<Held> held = List.of();

        Fact(int dimensions) {
            this.first = new long[dimensions];
        }

        /** Whether the candidate is the first that was asked for. */
        boolean isFirst(int i, long candidate) {
            if ((hasFirst & 1L << i) == 0) {
                hasFirst |= 1L << i;
                first[i] = candidate;
            }
            return first[i] == candidate;
        }

        void hold(Held row) {
            held = held.isEmpty() ? new ArrayList<>() : held;
            held.add(row);
        }
    }

    private final JoinSpec spec;
    private final KeyComparison[] keys;
    private final ResultEmitter<OUT> rows;

    /** Whether rows depend on no other row of their fact. */
    private final boolean onlyInner;

    private final IncompleteProbeRows<Fact> facts;
    private Output<StreamRecord<OUT>> output;

    /**
     * @param spec of the engine, which returns candidates
     * @param rows emits the results
     */
    CollisionCheckingStarEmitter(
            JoinSpec spec, List<HashedDimension> verified, ResultEmitter<OUT> rows) {
        if (verified.size() > MAX_DIMENSIONS) {
            throw new IllegalArgumentException(
                    "Too many dimensions have keys of more than 64 bits: dimensions=%d, max=%d. Use narrower keys, or two joins."
                            .formatted(verified.size(), MAX_DIMENSIONS));
        }
        this.spec = spec;
        this.keys =
                verified.stream()
                        .map(side -> new KeyComparison(spec, side))
                        .toArray(KeyComparison[]::new);
        this.rows = rows;
        this.onlyInner = Arrays.stream(keys).allMatch(side -> side.kind() == JoinKind.INNER);
        this.facts =
                new IncompleteProbeRows<>(() -> new Fact(keys.length), (row, fact) -> settle(fact));
    }

    @Override
    public void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception {
        Objects.checkFromToIndex(fromRow, toRow, batch.rowCount());
        this.output = output;
        for (KeyComparison side : keys) {
            side.bind(batch);
        }
        if (onlyInner) {
            emitInner(batch, fromRow, toRow);
        } else {
            emitByFact(batch, fromRow, toRow);
        }
    }

    /** Block by block, so that what a block loads is still in a core's cache when it is emitted. */
    private void emitInner(ResultBatch batch, int fromRow, int toRow) throws Exception {
        for (int begin = fromRow; begin < toRow; begin += AbstractRowEmitter.BLOCK_ROWS) {
            emitBlock(batch, begin, Math.min(toRow, begin + AbstractRowEmitter.BLOCK_ROWS));
        }
    }

    private void emitBlock(ResultBatch batch, int fromRow, int toRow) throws Exception {
        for (KeyComparison side : keys) {
            side.load(fromRow, toRow);
        }
        int begin = fromRow;
        while (begin < toRow) {
            int end = toRow;
            for (KeyComparison side : keys) {
                end = side.firstUnequal(begin, end);
            }
            emitRows(batch, begin, end);
            begin = end + 1;
        }
    }

    private void emitByFact(ResultBatch batch, int fromRow, int toRow) throws Exception {
        int begin = fromRow;
        for (int row = fromRow; row < toRow; row++) {
            int probeRow = Memory.getInt(batch.probeRowAddress() + 4L * row);
            if (!facts.isAt(probeRow)) {
                if (facts.state() != null && !facts.state().held.isEmpty()) {
                    emitRows(batch, begin, row);
                    begin = row;
                }
                facts.moveTo(probeRow, batch.completedRows());
            }
            if (!isResult(batch, row, probeRow)) {
                emitRows(batch, begin, row);
                begin = row + 1;
            }
        }
        emitRows(batch, begin, toRow);
    }

    private void emitRows(ResultBatch batch, int fromRow, int toRow) throws Exception {
        if (fromRow < toRow) {
            rows.emit(batch, fromRow, toRow, output);
        }
    }

    private boolean isResult(ResultBatch batch, int row, int probeRow) {
        Fact fact = facts.state();
        boolean result = true;
        long unmatched = 0;
        for (int i = 0; i < keys.length; i++) {
            KeyComparison side = keys[i];
            if (!side.hasCandidate(row)) {
                continue;
            }
            boolean equal = side.areEqual(row, probeRow);
            switch (side.kind()) {
                case INNER -> result &= equal;
                case SEMI -> result &= equal && fact.isFirst(i, side.candidateRow(row));
                case LEFT, ANTI -> {
                    if (equal) {
                        fact.matched |= 1L << i;
                        result &= side.kind() == JoinKind.LEFT;
                    } else {
                        unmatched |= 1L << i;
                        result &= fact.isFirst(i, side.candidateRow(row));
                    }
                }
            }
        }
        if (result && unmatched != 0 && (unmatched & fact.matched) == 0) {
            fact.hold(new Held(new RowCopy(spec, batch, row, dimensions(unmatched)), unmatched));
        }
        return result && unmatched == 0;
    }

    private BitSet dimensions(long bits) {
        BitSet dimensions = new BitSet();
        BitSet.valueOf(new long[] {bits}).stream()
                .forEach(i -> dimensions.set(keys[i].dimension()));
        return dimensions;
    }

    private void settle(Fact fact) throws Exception {
        try {
            for (Held held : fact.held) {
                if ((held.unmatched & fact.matched) == 0) {
                    rows.emit(held.row.batch(), 0, 1, output);
                }
            }
        } finally {
            release(fact);
        }
    }

    private static void release(Fact fact) {
        fact.held.forEach(held -> held.row.close());
        fact.held = List.of();
    }

    @Override
    public void completed(int completedRows, Output<StreamRecord<OUT>> output) throws Exception {
        this.output = output;
        facts.completed(completedRows);
        rows.completed(completedRows, output);
    }

    @Override
    public int sliceRows() {
        return rows.sliceRows();
    }

    @Override
    public void flush(Output<StreamRecord<OUT>> output) throws Exception {
        rows.flush(output);
    }

    @Override
    public void close() throws Exception {
        facts.unsettled().forEach(CollisionCheckingStarEmitter::release);
        rows.close();
    }
}
