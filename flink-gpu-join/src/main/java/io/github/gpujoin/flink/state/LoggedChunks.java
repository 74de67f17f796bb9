// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;

/** Chunks of several sides in one log; the header of a chunk names its side. */
final class LoggedChunks {

    private LoggedChunks() {}

    /**
     * @throws IllegalStateException if the chunk is of no side of the join
     */
    static Chunk wrap(JoinSpec spec, byte[] bytes) {
        int dimension =
                bytes.length < ChunkDescriptor.HEADER_BYTES
                        ? 0
                        : Memory.getShort(bytes, Memory.BYTES + ChunkDescriptor.DIMENSION_OFFSET);
        if (dimension == ChunkDescriptor.FACTS) {
            return Chunk.wrap(spec.factSchema(), bytes);
        }
        if (dimension < 0 || dimension >= spec.dimensions().size()) {
            throw new IllegalStateException(
                    "A logged chunk names an unknown dimension: dimension=" + dimension);
        }
        return Chunk.wrap(spec.dimensions().get(dimension).schema(), bytes);
    }
}
