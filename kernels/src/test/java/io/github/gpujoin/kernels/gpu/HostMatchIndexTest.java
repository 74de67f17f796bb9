// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;

/** The index of symmetric joins, on a device that the CPU emulates. */
class HostMatchIndexTest extends MatchIndexConformance {

    /** Fewer matches than most chunks have. */
    private static final int MATCH_CAPACITY = 1000;

    private static HostMatchDevice device;

    @BeforeAll
    static void open() throws Exception {
        device = HostMatchDevice.open(MATCH_CAPACITY);
    }

    @Override
    MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory) {
        return device.create(removesRows, hostMemory);
    }
}
