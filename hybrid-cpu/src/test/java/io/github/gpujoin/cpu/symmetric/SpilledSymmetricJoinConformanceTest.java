// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinConformance;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;

/** Refuses memory at random as long as a join has chunks on the heap, so that it spills them. */
class SpilledSymmetricJoinConformanceTest extends SymmetricJoinConformance {

    @TempDir static Path directory;

    @Override
    protected SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        Refusing memory = new Refusing(hostMemory);
        memory.join = new CpuSymmetricJoin(spec, condition, memory, directory);
        return memory.join;
    }

    private static final class Refusing implements MemoryReservations {

        private static final int RESERVATIONS_A_REFUSAL = 2;

        private final MemoryReservations memory;
        private final Random random = new Random(7);
        private CpuSymmetricJoin join;

        Refusing(MemoryReservations memory) {
            this.memory = memory;
        }

        @Override
        public void reserve(long bytes) {
            if (join != null
                    && join.chunkBytes() > 0
                    && random.nextInt(RESERVATIONS_A_REFUSAL) == 0) {
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
