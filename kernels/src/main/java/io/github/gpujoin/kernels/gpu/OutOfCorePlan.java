// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a join beyond device memory. A step joins the rows of one partition. If they do not
 * fit the device, as with a heavy hitter, each part of the left rows meets each part of the right
 * ones.
 */
final class OutOfCorePlan {

    /**
     * A step.
     *
     * @param tables runs of both inputs; an input without runs has no rows
     */
    record Step(Map<JoinSide, List<StoredRun>> tables, BulkStep results) {

        long rows(JoinSide side) {
            return tables.get(side).stream().mapToLong(StoredRun::rows).sum();
        }

        boolean isJoin() {
            return tables.values().stream().noneMatch(List::isEmpty);
        }
    }

    /** What the least step needs. */
    private static final long FIXED_BYTES = 4 << 20;

    /** Rows of both partitioned tables, and of the larger one again, with some room. */
    private static final double WORKSPACE_TUPLES = 2.4;

    private final BulkJoinKind kind;
    private final Map<JoinSide, BulkRunLayout> layouts;
    private final long limitBytes;
    private final List<Step> steps = new ArrayList<>();

    /**
     * @param limitBytes device memory for the steps; if it is too small, each has one run of each
     *     input
     */
    OutOfCorePlan(
            BulkJoinKind kind,
            Map<JoinSide, BulkRunLayout> layouts,
            StoredInputs inputs,
            long limitBytes) {
        this.kind = kind;
        this.layouts = layouts;
        this.limitBytes = limitBytes - FIXED_BYTES;
        for (int p = 0; p < inputs.partitions(); p++) {
            addPartition(
                    inputs.joined().get(JoinSide.LEFT).get(p),
                    inputs.joined().get(JoinSide.RIGHT).get(p));
        }
        for (JoinSide side : JoinSide.values()) {
            addUnmatched(side, inputs.unjoined().get(side));
        }
    }

    /** Returns what steps of one run of each input need. */
    static long leastBytes(Map<JoinSide, BulkRunLayout> layouts) {
        return FIXED_BYTES + layouts.values().stream().mapToLong(OutOfCorePlan::stepBytes).sum();
    }

    List<Step> steps() {
        return steps;
    }

    /** Whether a smaller limit would not make smaller steps. */
    boolean isSmallest() {
        return steps.stream()
                .flatMap(step -> step.tables().values().stream())
                .allMatch(runs -> runs.size() <= 1);
    }

    private void addPartition(List<StoredRun> left, List<StoredRun> right) {
        if (left.isEmpty() || right.isEmpty()) {
            addUnmatched(JoinSide.LEFT, left);
            addUnmatched(JoinSide.RIGHT, right);
            return;
        }
        long leftRun = stepBytes(layouts.get(JoinSide.LEFT));
        long rightRun = stepBytes(layouts.get(JoinSide.RIGHT));
        int leftRuns = fitting(left.size(), limitBytes / 2, leftRun);
        int rightRuns = fitting(right.size(), limitBytes - leftRuns * leftRun, rightRun);
        leftRuns = fitting(left.size(), limitBytes - rightRuns * rightRun, leftRun);
        List<List<StoredRun>> lefts = parts(left, leftRuns);
        List<List<StoredRun>> rights = parts(right, rightRuns);
        if (lefts.size() == 1 && rights.size() == 1) {
            steps.add(new Step(tables(left, right), BulkStep.whole(kind)));
            return;
        }
        boolean marksLeft = BulkStep.needsMarks(kind, JoinSide.LEFT);
        boolean marksRight = BulkStep.needsMarks(kind, JoinSide.RIGHT);
        if (kind.returnsPairs() || marksLeft) {
            for (List<StoredRun> part : lefts) {
                for (int r = 0; r < rights.size(); r++) {
                    Map<JoinSide, BulkStep.Marks> marks =
                            marks(marksLeft, JoinSide.LEFT, r, rights.size());
                    steps.add(
                            new Step(
                                    tables(part, rights.get(r)),
                                    new BulkStep(kind.returnsPairs(), marks)));
                }
            }
        }
        if (marksRight) {
            for (List<StoredRun> part : rights) {
                for (int l = 0; l < lefts.size(); l++) {
                    Map<JoinSide, BulkStep.Marks> marks =
                            marks(true, JoinSide.RIGHT, l, lefts.size());
                    steps.add(new Step(tables(lefts.get(l), part), new BulkStep(false, marks)));
                }
            }
        }
    }

    private static Map<JoinSide, BulkStep.Marks> marks(
            boolean needsMarks, JoinSide side, int index, int count) {
        return needsMarks
                ? Map.of(side, new BulkStep.Marks(index == 0, index == count - 1))
                : Map.of();
    }

    private void addUnmatched(JoinSide side, List<StoredRun> runs) {
        if (!kind.keepsUnmatched(side)) {
            return;
        }
        for (List<StoredRun> part :
                parts(runs, fitting(runs.size(), limitBytes, stepBytes(layouts.get(side))))) {
            boolean isLeft = side == JoinSide.LEFT;
            steps.add(
                    new Step(
                            tables(isLeft ? part : List.of(), isLeft ? List.of() : part),
                            new BulkStep(false, Map.of())));
        }
    }

    private static int fitting(int runs, long bytes, long runBytes) {
        long most = ResidentCall.MAX_ROWS / BulkRunLayout.RUN_ROWS;
        return (int) Math.max(1, Math.min(Math.min(runs, most), bytes / runBytes));
    }

    private static List<List<StoredRun>> parts(List<StoredRun> runs, int partRuns) {
        List<List<StoredRun>> parts = new ArrayList<>();
        for (int from = 0; from < runs.size(); from += partRuns) {
            parts.add(runs.subList(from, Math.min(runs.size(), from + partRuns)));
        }
        return parts;
    }

    private static Map<JoinSide, List<StoredRun>> tables(
            List<StoredRun> left, List<StoredRun> right) {
        Map<JoinSide, List<StoredRun>> tables = new EnumMap<>(JoinSide.class);
        tables.put(JoinSide.LEFT, left);
        tables.put(JoinSide.RIGHT, right);
        return tables;
    }

    /** Returns the device memory that a step needs for a run: twice, as the next step is loaded. */
    private static long stepBytes(BulkRunLayout layout) {
        double tupleBytes = 2.0 * layout.wordBytes();
        double rowBytes = WORKSPACE_TUPLES * tupleBytes + 1.2 * tupleBytes + 1;
        return 2L * layout.lengthBytes() + (long) (rowBytes * BulkRunLayout.RUN_ROWS);
    }
}
