// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryAccount;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two threads whose share of the memory is less than their buffers, so that they spill each slice.
 */
class SpillingConformanceTest extends BulkJoinConformance {

    private static final long LIMIT_BYTES = 4 << 20;

    @TempDir private static Path directory;

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new CpuRadixJoin(
                spec,
                new RadixJoinOptions(2, 3, 1_000, directory),
                new MemoryAccount("test").within(LIMIT_BYTES));
    }
}
