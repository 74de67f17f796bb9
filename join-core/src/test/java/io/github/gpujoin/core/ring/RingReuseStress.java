// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.testing.StressPayload;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The writer rewrites the only slot after its release, and never while it is read. */
@JCStressTest
@Outcome(
        id = {"0, 0", "1, 0", "1, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "each payload is read whole, in order, or not yet")
@Outcome(expect = Expect.FORBIDDEN, desc = "torn, overwritten, or out of order")
@State
public class RingReuseStress {

    private static final RingGeometry GEOMETRY = new RingGeometry(1, 128);
    private static final int POLLS = 64;

    /** The ring, then the word in which the reader publishes its released sequence. */
    private final byte[] memory = new byte[(int) GEOMETRY.lengthBytes() + 8];

    private final long credit = Memory.BYTES + GEOMETRY.lengthBytes();
    private final RingWriter writer = new RingWriter(memory, Memory.BYTES, GEOMETRY, 7);
    private final RingReader reader = new RingReader(memory, Memory.BYTES, GEOMETRY, 7, 0);

    @Actor
    public void write() {
        byte[] first = StressPayload.of(1);
        byte[] second = StressPayload.of(2);
        writer.tryWrite(first, Memory.BYTES, first.length);
        for (int i = 0; i < POLLS; i++) {
            // Acquire: the reader's loads of the slot precede the next stores to it.
            writer.acknowledge(Memory.getLongAcquire(memory, credit));
            if (writer.tryWrite(second, Memory.BYTES, second.length)) {
                return;
            }
        }
    }

    @Actor
    public void read(II_Result result) {
        int polls = POLLS;
        do {
            result.r1 = StressPayload.judge(reader, 1);
        } while (result.r1 == 0 && --polls > 0);
        if (result.r1 != 1) {
            return;
        }
        reader.release();
        // Release: the loads of the slot precede its release.
        Memory.putLongRelease(memory, credit, reader.releasedSequence());
        do {
            result.r2 = StressPayload.judge(reader, 2);
        } while (result.r2 == 0 && --polls > 0);
    }
}
