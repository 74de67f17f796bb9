// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.SnapshotDamage;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Chunks of several sides in one log; the header of a chunk names its side. Encoded facts stay
 * encoded.
 */
final class LoggedChunks {

    private LoggedChunks() {}

    /**
     * @throws SuppressRestartsException if the join has no such side
     */
    static Chunk decode(JoinSpec spec, byte[] bytes) {
        int dimension = dimensionOf(bytes, spec.dimensions().size());
        return dimension == ChunkDescriptor.FACTS
                ? ChunkDecoder.open(spec.factSchema(), bytes)
                : ChunkDecoder.decode(spec.dimensions().get(dimension).schema(), bytes);
    }

    /**
     * Reads the number of a chunk's dimension, or {@link ChunkDescriptor#FACTS}. A chunk without a
     * whole header counts to dimension 0, whose schema then rejects it.
     *
     * @param dimensions number of the join's dimensions
     * @throws SuppressRestartsException if the join has no such side
     */
    static int dimensionOf(byte[] bytes, int dimensions) {
        int dimension =
                bytes.length < ChunkDescriptor.HEADER_BYTES
                        ? 0
                        : Memory.getShort(bytes, Memory.BYTES + ChunkDescriptor.DIMENSION_OFFSET);
        if (dimension < ChunkDescriptor.FACTS || dimension >= dimensions) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(
                            "build log",
                            "a logged chunk is of an unknown dimension: dimension=%d, dimensions=%d"
                                    .formatted(dimension, dimensions)));
        }
        return dimension;
    }
}
