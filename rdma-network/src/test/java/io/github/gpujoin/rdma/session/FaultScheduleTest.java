// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.session.testing.FaultyNetwork;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol on a simulated network with faults. To repeat one schedule: {@code
 * -Dtest=FaultScheduleTest -DargLine=-Dgpujoin.seed=1234}.
 */
@ExtendWith(RegionLeakExtension.class)
class FaultScheduleTest {

    private static final int BLOCKS = 50;
    private static final int FEW_BLOCKS = 10;
    private static final int SCHEDULES_PER_BLOCK = 200;

    static IntStream blocks() {
        return Long.getLong("gpujoin.seed") == null ? IntStream.range(0, BLOCKS) : IntStream.of(0);
    }

    static IntStream fewBlocks() {
        return blocks().limit(FEW_BLOCKS);
    }

    private static LongStream seeds(int block) {
        Long one = Long.getLong("gpujoin.seed");
        long first = (long) block * SCHEDULES_PER_BLOCK;
        return one == null
                ? LongStream.range(first, first + SCHEDULES_PER_BLOCK)
                : LongStream.of(one);
    }

    @ParameterizedTest(name = "200 seeds from 200 x {0}")
    @MethodSource("blocks")
    void shouldDeliverEverythingOnceAndInOrderUnderFaults(int block) {
        run(block, FaultyNetwork::simulated);
    }

    /** Only control connections break, because shared memory loses no writes. */
    @EnabledOnOs(OS.LINUX)
    @ParameterizedTest(name = "200 seeds from 200 x {0}")
    @MethodSource("fewBlocks")
    void shouldDeliverEverythingOnceAndInOrderThroughSharedMemory(int block) {
        run(
                block,
                (random, seed, clockNs) ->
                        FaultyNetwork.whole(new ShmTransport(ShmTransport.DEFAULT_DIRECTORY)));
    }

    private static void run(int block, FaultyNetwork.Opener opener) {
        long openBefore = Region.openCount();
        LongAdder attempts = new LongAdder();
        LongAdder reconnects = new LongAdder();
        seeds(block)
                .forEach(
                        seed -> {
                            try (FaultSchedule schedule = new FaultSchedule(seed, opener)) {
                                schedule.run();
                                attempts.add(schedule.attempts());
                                reconnects.add(schedule.epochs() - schedule.attempts());
                            } catch (Exception | AssertionError e) {
                                throw new AssertionError("seed=" + seed, e);
                            }
                            assertThat(Region.openCount())
                                    .as("seed=%d", seed)
                                    .isEqualTo(openBefore);
                        });
        if (Long.getLong("gpujoin.seed") == null) {
            // Check that the schedules are effective: writers restart and connections break in
            // most.
            assertThat(attempts.sum()).isGreaterThan(3 * SCHEDULES_PER_BLOCK / 2);
            assertThat(reconnects.sum()).isGreaterThan(SCHEDULES_PER_BLOCK / 2);
        }
    }
}
