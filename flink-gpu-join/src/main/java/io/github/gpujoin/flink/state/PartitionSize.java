// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.layout.Chunk;

/**
 * Size of the build log of one partition.
 *
 * @param bytes of the rows, as {@link EngineChecks#payloadBytes} counts them
 */
public record PartitionSize(int partition, long chunks, long rows, long bytes) {

    static PartitionSize empty(int partition) {
        return new PartitionSize(partition, 0, 0, 0);
    }

    /** The size with one more chunk. */
    PartitionSize plus(Chunk chunk) {
        return new PartitionSize(
                partition,
                chunks + 1,
                rows + chunk.rowCount(),
                bytes + EngineChecks.payloadBytes(chunk));
    }
}
