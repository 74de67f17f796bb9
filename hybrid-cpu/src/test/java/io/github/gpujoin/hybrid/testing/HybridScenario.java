// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import java.util.ArrayList;
import java.util.List;

/**
 * Two CPU engines, each with its own budget, in place of a device and the host. Tests of the hybrid
 * engine extend it.
 */
public abstract class HybridScenario {

    public static final int KEYS = 40_000;

    /** Minimum for a join: replicated tables, scratch memory, and the table of one build chunk. */
    public static final long LEAST_BYTES = 512 << 10;

    public final MemoryAccount hostMemory = new MemoryAccount("host");
    public final List<EngineUnavailableException> lost = new ArrayList<>();

    public HybridJoinEngine engine(
            PartitionedStar star, int groupCount, Allocator device, Allocator host) {
        return engine(
                star,
                groupCount,
                LoggedHybrid.factory(spec -> new CpuJoinEngine(spec, device)),
                host);
    }

    public HybridJoinEngine engine(
            PartitionedStar star, int groupCount, JoinEngineFactory device, Allocator host) {
        return new HybridJoinEngine(
                star.spec(),
                star.options(groupCount, 20_000),
                device,
                LoggedHybrid.factory(spec -> new CpuJoinEngine(spec, host)),
                star.log(),
                lost::add);
    }

    /** Returns the peak memory of one engine that holds all tables. */
    public static long neededBytes(PartitionedStar star) {
        MemoryAccount account = new MemoryAccount("test");
        try (JoinEngine engine = new CpuJoinEngine(star.spec(), account.within(Long.MAX_VALUE))) {
            star.load(engine);
        }
        return account.peakBytes();
    }

    public static void assertJoins(PartitionedStar star, JoinEngine engine) {
        EngineRun run = new EngineRun(engine);
        star.probes().forEach(probe -> run.submit(probe, 0));
        run.drain();
        assertThat(run.results()).isEqualTo(star.expected());
    }
}
