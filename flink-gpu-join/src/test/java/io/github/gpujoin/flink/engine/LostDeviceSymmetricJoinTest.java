// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.core.symmetric.testing.TestInputs;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Change;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.HostMatchDevice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Loses the device of a symmetric join after each number of driver calls. */
@ExtendWith(RegionLeakExtension.class)
class LostDeviceSymmetricJoinTest {

    private static final int LEFT = 0;
    private static final int RIGHT = 1;

    /** Matches of a row: more than a batch, and more than the device returns at once. */
    private static final int FAN_OUT = 5_000;

    private static final int MATCH_CAPACITY = 100;

    /** Calls between losses, so that the test takes seconds. */
    private static final int STEP = 5;

    private final SymmetricInput left = TestInputs.input("l", RowIdentity.APPEND_ONLY, false);
    private final SymmetricInput right = TestInputs.input("r", RowIdentity.MULTISET, false);

    private static Chunk chunk(SymmetricInput input, int rows, long otherKeys) {
        List<Change> changes = new ArrayList<>();
        for (int id = 0; id < rows; id++) {
            long key = otherKeys == 0 ? 5 : 5 + id % (otherKeys + 1);
            changes.add(new Change(ChangeKind.INSERT, new Row(key, id)));
        }
        return TestInputs.chunk(input, 0, changes);
    }

    @Test
    void shouldNotFailAmidTheResultsOfARow() throws Exception {
        List<Chunk> lefts = List.of(chunk(left, FAN_OUT, 0), chunk(left, 100, 99));
        List<Chunk> rights = List.of(chunk(right, 3, 0), chunk(right, 40, 7));
        int calls = 0;
        boolean isLost = true;
        while (isLost) {
            calls += STEP;
            HostMatchDevice device = HostMatchDevice.open(MATCH_CAPACITY);
            device.loseAfter(calls);
            isLost = joinUntilLost(device, lefts, rights);
            device.endProcess();
            assertThat(device.usedBytes()).as("calls=%d", calls).isZero();
        }
        assertThat(calls).as("driver calls of all chunks").isGreaterThan(10 * STEP);
    }

    private boolean joinUntilLost(HostMatchDevice device, List<Chunk> lefts, List<Chunk> rights) {
        boolean isAmidRow = false;
        try (SymmetricJoin join =
                new IndexedSymmetricJoinFactory(device)
                        .create(
                                new SymmetricJoinSpec(left, right, BulkJoinKind.INNER),
                                MatchCondition.ALWAYS,
                                MemoryReservations.unlimited(),
                                null)) {
            join.finishLoad(0);
            for (int i = 0; i < 2; i++) {
                join.submit(LEFT, lefts.get(i), 0, 0);
                join.submit(RIGHT, rights.get(i), 0, 0);
                while (join.inFlightCount() > 0) {
                    SymmetricBatch batch = join.poll();
                    isAmidRow = batch.endsAmidRow();
                }
            }
            return false;
        } catch (GpuUnavailableException e) {
            assertThat(isAmidRow).as("fails amid the results of a row: %s", e).isFalse();
            return true;
        }
    }
}
