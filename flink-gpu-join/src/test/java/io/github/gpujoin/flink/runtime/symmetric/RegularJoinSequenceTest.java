// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.reference.ReferenceSymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The operator returns the same results in the same order as Flink's own operator, which receives
 * the same rows one by one and is never restarted.
 */
class RegularJoinSequenceTest {

    private static final int STEPS = 150;

    private static final RowPairCondition.Factory SMALLER_ID =
            context -> (left, right) -> left.getInt(1) <= right.getInt(1) + 1;

    static Stream<Arguments> shapes() {
        List<Arguments> shapes = new ArrayList<>();
        Random random = new Random(20261127);
        for (BulkJoinKind kind : BulkJoinKind.values()) {
            for (RowIdentity left : RowIdentity.values()) {
                RowIdentity right = RowIdentity.values()[random.nextInt(4)];
                shapes.add(
                        Arguments.of(
                                kind,
                                left,
                                right,
                                random.nextBoolean(),
                                random.nextBoolean(),
                                random.nextLong(1000)));
            }
        }
        return shapes.stream();
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheResultsOfFlinksJoinOverRestartsAndRescaling(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        SymmetricJoinFactory engine = new CpuSymmetricJoinFactory();
        verify(kind, left, right, hasTextKeys, hasCondition, List.of(engine), seed);
    }

    /** Every restart begins with the device. */
    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheSameResultsIfTheDeviceIsLost(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        LostDevice.reset(seed);
        List<SymmetricJoinFactory> engines =
                List.of(
                        new IndexedSymmetricJoinFactory(new LostDevice()),
                        new CpuSymmetricJoinFactory());
        verify(kind, left, right, hasTextKeys, hasCondition, engines, seed);
        assertThat(LostDevice.losses()).as("lost devices").isPositive();
    }

    /** Every restart begins without spilled partitions. */
    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheSameResultsIfPartitionsExceedMemory(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        RefusedMemory.reset(seed);
        SymmetricJoinFactory engine = new RefusedMemory(new ReferenceSymmetricJoinFactory());
        verify(kind, left, right, hasTextKeys, hasCondition, List.of(engine), seed);
        assertThat(RefusedMemory.refusals()).as("refusals of memory").isPositive();
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheSameResultsIfChunksExceedMemory(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        RefusedMemory.reset(seed);
        SymmetricJoinFactory engine = new RefusedMemory(new CpuSymmetricJoinFactory());
        verify(kind, left, right, hasTextKeys, hasCondition, List.of(engine), seed);
        assertThat(RefusedMemory.refusals()).as("refusals of memory").isPositive();
    }

    private static void verify(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            List<SymmetricJoinFactory> engines,
            long seed)
            throws Exception {
        RegularJoinShape shape =
                new RegularJoinShape(
                        kind,
                        left,
                        right,
                        hasTextKeys,
                        hasCondition ? SMALLER_ID : null,
                        SymmetricInput.FOREVER,
                        SymmetricInput.FOREVER,
                        engines,
                        0);
        Random random = new Random(seed);
        List<RandomChanges> changes =
                Arrays.stream(JoinSide.values())
                        .map(
                                side ->
                                        new RandomChanges(
                                                shape,
                                                side.ordinal(),
                                                mayUpsert(kind, side),
                                                random))
                        .toList();
        try (FlinkRegularJoin oracle = new FlinkRegularJoin(shape);
                JoinSubtasks subtasks = new JoinSubtasks(shape, oracle)) {
            subtasks.verify(changes, STEPS, random, "seed=" + seed);
        }
    }

    /**
     * Whether updates may lack the change before them. Flink's operator counts an updated row as
     * one more match of each row of the other input that it keeps without a match, and a restore
     * counts it once.
     */
    private static boolean mayUpsert(BulkJoinKind kind, JoinSide side) {
        return kind.returnsPairs() ? !kind.keepsUnmatched(side.other()) : side == JoinSide.LEFT;
    }
}
