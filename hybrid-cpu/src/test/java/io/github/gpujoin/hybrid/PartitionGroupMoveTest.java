// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.hybrid.testing.MemoryLog;
import org.junit.jupiter.api.Test;

class PartitionGroupMoveTest {

    private static final int DIMENSION = 0;

    private final MemoryLog log = new MemoryLog(DIMENSION);
    private final PartitionGroup group = new PartitionGroup(0, 0, 1, 100);

    private PartitionGroupMove spillFromHost() {
        group.moveTo(TableLocation.HOST, null, TableSize.NONE);
        group.move();
        return new PartitionGroupMove(group, TableLocation.SPILLED, null);
    }

    @Test
    void shouldFinishMoveAfterLastSubmittedChunk() {
        PartitionGroupMove move = spillFromHost();
        group.addSubmitted();
        move.step(DIMENSION, log, 1, 1);
        assertThat(move.isLoading()).isFalse();
        assertThat(move.finish()).isFalse();
        group.removeSubmitted();
        assertThat(move.finish()).isTrue();
        assertThat(move.finish()).isFalse();
    }

    @Test
    void shouldKeepTierIfMoveIsCancelled() {
        PartitionGroupMove move = spillFromHost();
        move.step(DIMENSION, log, 1, 1);
        assertThat(group.isMoving()).isTrue();
        move.cancel();
        assertThat(group.isMoving()).isFalse();
        assertThat(group.tier()).isEqualTo(MemoryTier.HOST);
        assertThatIllegalStateException()
                .isThrownBy(move::cancel)
                .withMessageContaining("state=DONE, next=DONE");
    }

    @Test
    void shouldMoveOnlyToAnotherOpenTier() {
        TierEngines noDevice = new TierEngines(MemoryTier.DEVICE, null);
        assertThat(new PartitionGroupMove(group, TableLocation.DEVICE, noDevice).isPossible())
                .isFalse();
        assertThat(new PartitionGroupMove(group, TableLocation.SPILLED, null).isPossible())
                .isFalse();
        assertThat(spillFromHost().isPossible()).isTrue();
    }
}
