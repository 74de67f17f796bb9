// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.region.MemoryRefusedException;
import org.junit.jupiter.api.Test;

class TextMemoryTest {

    @Test
    void shouldRefuseTextsBeyondItsLimitUntilOthersAreReleased() {
        TextMemory memory = new TextMemory(1_000);
        memory.reserve(600);
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> memory.reserve(401))
                .withMessage(
                        "Texts of groups exceed their share of the Java heap: neededBytes=401,"
                                + " usedBytes=600, limitBytes=1000. Raise"
                                + " taskmanager.memory.task.heap.size, or group by a column with"
                                + " fewer values.");
        memory.reserve(400);
        memory.release(600);
        memory.reserve(401);
        assertThat(memory.availableBytes()).isEqualTo(199);
    }

    @Test
    void shouldLeaveMostOfTheHeapToOthers() {
        assertThat(TextMemory.SHARED.availableBytes())
                .isPositive()
                .isLessThanOrEqualTo(Runtime.getRuntime().maxMemory() / 4);
    }
}
