// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Joins whose memory is refused at random, a few times in the life of a job. Used by one thread.
 *
 * @param joins that spill nothing, or chunks before a refusal reaches their caller
 */
record RefusedMemory(SymmetricJoinFactory joins) implements SymmetricJoinFactory {

    /** A subtask has at least so many partitions, of which a refusal spills at least one. */
    private static final int REFUSALS_A_LIFE = 2;

    private static final int RESERVATIONS_A_REFUSAL = 12;

    private static Random random = new Random(0);
    private static int left;
    private static int refusals;

    static void reset(long seed) {
        random = new Random(seed);
        refusals = 0;
        restart();
    }

    /** Begins another life of the job. */
    static void restart() {
        left = REFUSALS_A_LIFE;
    }

    /** Returns the number of refusals since the last reset. */
    static int refusals() {
        return refusals;
    }

    @Override
    public String joinName() {
        return "refused";
    }

    @Override
    public SymmetricJoin create(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        Refusing memory = new Refusing(hostMemory);
        SymmetricJoin join = joins.create(spec, condition, memory, spillDirectory);
        memory.isActive = true;
        return join;
    }

    @Override
    public SymmetricJoin create(
            MultiJoinSpec spec,
            MultiJoinCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        Refusing memory = new Refusing(hostMemory);
        SymmetricJoin join = joins.create(spec, condition, memory, spillDirectory);
        memory.isActive = true;
        return join;
    }

    private static final class Refusing implements MemoryReservations {

        private final MemoryReservations memory;

        /** Whether the join is created. A job fails if not even empty tables fit. */
        private boolean isActive;

        Refusing(MemoryReservations memory) {
            this.memory = memory;
        }

        @Override
        public void reserve(long bytes) {
            if (isActive && left > 0 && random.nextInt(RESERVATIONS_A_REFUSAL) == 0) {
                left--;
                refusals++;
                throw new MemoryRefusedException("Test refuses memory: bytes=" + bytes, null);
            }
            memory.reserve(bytes);
        }

        @Override
        public void release(long bytes) {
            memory.release(bytes);
        }

        @Override
        public long availableBytes() {
            return memory.availableBytes();
        }
    }
}
