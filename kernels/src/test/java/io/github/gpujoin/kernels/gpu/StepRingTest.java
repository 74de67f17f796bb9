// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StepRingTest {

    private static final int BLOCKS = 4;
    private static final int BUSY_NS = 7;

    private final Region control = Region.allocateZeroed(GridAllotment.controlBytes(BLOCKS));
    private final Region entries = Region.allocateZeroed(StepRing.LENGTH_BYTES);
    private final Region completions =
            Region.allocateZeroed((long) StepRing.ENTRIES * StepDescriptor.COMPLETION_BYTES);
    private final StepRing ring =
            new StepRing(
                    control.address(),
                    entries.address(),
                    new GridAllotment(GridMode.ADAPTIVE, BLOCKS, control.address()));

    private final BusShares.Share share = ring.shares().open(JoinShare.OF_ENGINE);

    @BeforeEach
    void fillRing() {
        for (int slot = 0; slot < StepRing.ENTRIES; slot++) {
            assertThat(post(slot)).isEqualTo(slot);
        }
    }

    @AfterEach
    void closeRegions() {
        control.close();
        entries.close();
        completions.close();
    }

    private long completion(int slot) {
        return completions.address() + (long) slot * StepDescriptor.COMPLETION_BYTES;
    }

    private long post(int slot) {
        return ring.post(
                new StepRing.Step(
                        0,
                        slot,
                        0,
                        false,
                        1,
                        slot,
                        0,
                        64,
                        null,
                        ChunkDescriptor.UNPARTITIONED,
                        new StepCompletion(completion(slot)),
                        share,
                        BusShares.Bottleneck.FACTS));
    }

    /** Writes a completion like the kernel. */
    private void complete(int slot, long ticket) {
        Memory.putLong(completion(slot) + StepDescriptor.COMPLETION_BUSY_NS_OFFSET, BUSY_NS);
        Memory.putLongRelease(
                null, completion(slot) + StepDescriptor.COMPLETION_SEQUENCE_OFFSET, ticket + 1);
    }

    @Test
    void shouldRejectAStepWhileItsEntryIsIncomplete() {
        assertThat(post(1)).isEqualTo(-1);
        complete(1, 1);
        assertThat(post(1)).as("the first entry is the next one").isEqualTo(-1);
    }

    @Test
    void shouldReuseTheEntryOfACompleteUnreleasedStep() {
        complete(0, 0);
        assertThat(post(1)).isEqualTo(StepRing.ENTRIES);
    }

    @Test
    void shouldKeepAnEntryIfItsLastStepIsReleasedLate() {
        complete(0, 0);
        long ticket = post(0);
        ring.release(0);
        for (int slot = 1; slot < StepRing.ENTRIES; slot++) {
            complete(slot, slot);
            post(slot);
        }
        assertThat(post(2)).as("ticket " + ticket + " is not complete").isEqualTo(-1);
    }

    @Test
    void shouldCountAStepOnce() {
        complete(0, 0);
        post(1);
        ring.release(0);
        complete(1, 1);
        ring.release(1);
        ring.release(1);
        assertThat(ring.laneLoads().get(0).steps()).isEqualTo(2);
        assertThat(ring.laneLoads().get(0).busyNs()).isEqualTo(2 * BUSY_NS);
    }
}
