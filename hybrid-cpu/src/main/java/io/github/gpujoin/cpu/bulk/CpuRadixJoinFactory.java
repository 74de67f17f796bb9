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
 * Creates {@link CpuRadixJoin}s with the default number of partitions.
 *
 * @param threads of each join
 * @param resultChunkBytes size of a full result chunk
 */
public record CpuRadixJoinFactory(int threads, int resultChunkBytes) implements BulkJoinFactory {

    private static final long serialVersionUID = 1L;

    /** Creates joins with result chunks of the default size. */
    public CpuRadixJoinFactory(int threads) {
        this(threads, RadixJoinOptions.DEFAULT_RESULT_CHUNK_BYTES);
    }

    @Override
    public String joinName() {
        return "cpu";
    }

    @Override
    public BulkJoin create(
            BulkJoinSpec spec, MemoryReservations hostMemory, @Nullable Path spillDirectory) {
        return new CpuRadixJoin(
                spec,
                new RadixJoinOptions(
                        threads,
                        RadixJoinOptions.DEFAULT_PARTITION_BITS,
                        resultChunkBytes,
                        spillDirectory),
                new MemoryAccount("bulk join").within(hostMemory));
    }
}
