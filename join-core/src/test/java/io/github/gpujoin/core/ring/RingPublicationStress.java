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
import org.openjdk.jcstress.infra.results.I_Result;

/** A reader sees a complete slot or none. */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "not published yet")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "published, with its payload")
@Outcome(id = "-1", expect = Expect.FORBIDDEN, desc = "published before its bytes")
@Outcome(id = "-2", expect = Expect.FORBIDDEN, desc = "passed with other bytes")
@State
public class RingPublicationStress {

    private static final RingGeometry GEOMETRY = new RingGeometry(1, 128);
    private static final byte[] PAYLOAD = StressPayload.of(1);

    private final byte[] ring = new byte[(int) GEOMETRY.lengthBytes()];
    private final RingWriter writer = new RingWriter(ring, Memory.BYTES, GEOMETRY, 7);
    private final RingReader reader = new RingReader(ring, Memory.BYTES, GEOMETRY, 7, 0);

    @Actor
    public void write() {
        writer.tryWrite(PAYLOAD, Memory.BYTES, PAYLOAD.length);
    }

    @Actor
    public void read(I_Result result) {
        result.r1 = StressPayload.judge(reader, 1);
    }
}
