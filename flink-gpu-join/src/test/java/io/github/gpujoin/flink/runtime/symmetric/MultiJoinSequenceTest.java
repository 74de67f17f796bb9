// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.reference.ReferenceSymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The operator returns the same results in the same order as Flink's own operator of multi-way
 * joins, which receives the same rows one by one and is never restarted.
 */
class MultiJoinSequenceTest {

    private static final int STEPS = 150;
    private static final RowIdentity[] IDENTITIES = RowIdentity.values();

    static IntStream seeds() {
        return IntStream.range(0, 24);
    }

    private static MultiJoinShape shape(Random random, List<SymmetricJoinFactory> engines) {
        int size = 2 + random.nextInt(3);
        List<RowIdentity> identities = new ArrayList<>();
        List<Boolean> leftJoins = new ArrayList<>();
        List<Integer> comparedInputs = new ArrayList<>();
        List<Boolean> hasConditions = new ArrayList<>();
        for (int input = 0; input < size; input++) {
            identities.add(IDENTITIES[random.nextInt(IDENTITIES.length)]);
            leftJoins.add(input > 0 && random.nextInt(3) > 0);
            comparedInputs.add(input == 0 ? 0 : random.nextInt(input));
            hasConditions.add(input > 0 && random.nextBoolean());
        }
        return new MultiJoinShape(
                identities,
                leftJoins,
                comparedInputs,
                hasConditions,
                random.nextBoolean(),
                engines);
    }

    private static void verify(int seed, List<SymmetricJoinFactory> engines) throws Exception {
        Random random = new Random(seed);
        MultiJoinShape shape = shape(random, engines);
        List<RandomChanges> changes =
                IntStream.range(0, shape.size())
                        .mapToObj(input -> new RandomChanges(shape, input, true, random))
                        .toList();
        try (FlinkMultiJoin oracle = new FlinkMultiJoin(shape);
                JoinSubtasks subtasks = new JoinSubtasks(shape, oracle)) {
            subtasks.verify(changes, STEPS, random, "seed=%d, %s".formatted(seed, shape));
        }
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldReturnTheResultsOfFlinksMultiJoinOverRestartsAndRescaling(int seed)
            throws Exception {
        verify(seed, List.of(new CpuSymmetricJoinFactory()));
    }

    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldReturnTheSameResultsIfChunksExceedMemory(int seed) throws Exception {
        RefusedMemory.reset(seed);
        verify(seed, List.of(new RefusedMemory(new CpuSymmetricJoinFactory())));
        assertThat(RefusedMemory.refusals()).as("refusals of memory").isPositive();
    }

    @Test
    void shouldLeaveMultiWayJoinsToTheCpu() throws Exception {
        LostDevice.reset(1);
        verify(
                1,
                List.of(
                        new IndexedSymmetricJoinFactory(new LostDevice()),
                        new CpuSymmetricJoinFactory()));
        assertThat(LostDevice.losses()).isZero();
    }

    /** Every restart begins without spilled partitions. */
    @ParameterizedTest(name = "seed={0}")
    @MethodSource("seeds")
    void shouldReturnTheSameResultsIfPartitionsExceedMemory(int seed) throws Exception {
        RefusedMemory.reset(seed);
        verify(seed, List.of(new RefusedMemory(new ReferenceSymmetricJoinFactory())));
        assertThat(RefusedMemory.refusals()).as("refusals of memory").isPositive();
    }
}
