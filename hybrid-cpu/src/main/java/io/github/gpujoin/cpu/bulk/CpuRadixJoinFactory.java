// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.MemoryReservations;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Creates {@link CpuRadixJoin}s with default options.
 *
 * @param threads of each join
 */
public record CpuRadixJoinFactory(int threads) implements BulkJoinFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String joinName() {
        return "cpu";
    }

    @Override
    public BulkJoin create(
            BulkJoinSpec spec, MemoryReservations hostMemory, @Nullable Path spillDirectory) {
        RadixJoinOptions options = RadixJoinOptions.ofThreads(threads);
        return new CpuRadixJoin(
                spec,
                options.spillingTo(spillDirectory),
                new MemoryAccount("bulk join").within(hostMemory));
    }
}
