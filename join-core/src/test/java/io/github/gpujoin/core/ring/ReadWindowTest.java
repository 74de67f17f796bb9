// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadWindowTest {

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldReleaseUpToTheOldestHeldSlot(long seed) {
        Random random = new Random(seed);
        int slotCount = 1 + random.nextInt(8);
        ReadWindow window = new ReadWindow(slotCount, 10);
        List<Long> held = new ArrayList<>();
        for (int step = 0; step < 2_000; step++) {
            if (window.heldCount() < slotCount && random.nextBoolean()) {
                held.add(window.take());
            } else if (!held.isEmpty()) {
                window.release(held.remove(random.nextInt(held.size())));
            }
            long oldest =
                    held.stream()
                            .mapToLong(Long::longValue)
                            .min()
                            .orElse(window.takenSequence() + 1);
            assertThat(window.releasedSequence()).isEqualTo(oldest - 1);
            assertThat(window.heldCount())
                    .isEqualTo((int) (window.takenSequence() - window.releasedSequence()));
        }
    }

    @Test
    void shouldCountTheLossesOfTheNextSlotUntilItIsTaken() {
        ReadWindow window = new ReadWindow(2, 0);
        assertThat(window.recordLoss()).isEqualTo(1);
        assertThat(window.recordLoss()).isEqualTo(2);
        window.release(window.take());
        assertThat(window.recordLoss()).isEqualTo(1);
    }

    @Test
    void shouldRejectReleasesOfSlotsThatAreNotHeld() {
        ReadWindow window = new ReadWindow(4, 0);
        window.take();
        window.take();
        window.release(2);
        for (long sequence : new long[] {0, 2, 3}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> window.release(sequence))
                    .withMessage(
                            "Slot is released that is not held: sequence=%d, releasedSequence=0,"
                                            .formatted(sequence)
                                    + " takenSequence=2");
        }
    }

    @Test
    void shouldRejectMoreSlotsThanTheRingHas() {
        ReadWindow window = new ReadWindow(1, 0);
        window.take();
        assertThatIllegalStateException()
                .isThrownBy(window::take)
                .withMessage("Slot is taken twice: sequence=2");
    }
}
