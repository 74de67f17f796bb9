// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;

/**
 * Load status of one source subtask of a dimension, for one partition. A mark is a chunk without
 * rows on the dimension's edge, so it follows all rows that the subtask sent before it.
 *
 * <pre>
 *   the header of {@link ChunkDescriptor}, with
 *     rowCount              0
 *     dimension, partition  of the rows; {@link ChunkDescriptor#UNPARTITIONED} for all of them
 *     epoch                 1 &lt;&lt; 63 | ordinal of the status; no other chunk has a negative epoch
 *     sequence              int32 parallelism &lt;&lt; 32 | int32 subtask
 * </pre>
 *
 * @param partition of the rows, or {@link ChunkDescriptor#UNPARTITIONED}
 * @param subtask that sent the rows, from 0
 * @param parallelism count of subtasks that send rows of the dimension
 */
public record LoadMark(int dimension, int partition, int subtask, int parallelism, Status status) {

    /** Load status of a source subtask. */
    public enum Status {
        /** More rows are expected. */
        LOADING,
        /** The source is idle in Flink's sense, so the join does not wait for it. */
        IDLE,
        /** The watermark has passed the end of the load, or the input has ended. */
        COMPLETE
    }

    private static final Status[] STATUSES = Status.values();

    /**
     * @throws ChunkFormatException if the subtask is negative or not below the parallelism
     */
    public LoadMark {
        if (subtask < 0 || subtask >= parallelism) {
            throw new ChunkFormatException(
                    "Damaged load mark: dimension=%d, subtask=%d, parallelism=%d. Restart the job."
                            .formatted(dimension, subtask, parallelism));
        }
    }

    /** Whether a chunk is a mark, rather than rows or a ticket. */
    public static boolean isMark(Chunk chunk) {
        return chunk.epoch() < 0 && chunk.rowCount() == 0;
    }

    /**
     * Reads a chunk that {@link #isMark} accepts.
     *
     * @throws ChunkFormatException if a field is out of range
     */
    public static LoadMark of(Chunk chunk) {
        long status = chunk.epoch() & Long.MAX_VALUE;
        if (status >= STATUSES.length) {
            throw new ChunkFormatException(
                    "Unknown load status: status=%d, dimension=%d. Run one version in all tasks."
                            .formatted(status, chunk.dimension()));
        }
        return new LoadMark(
                chunk.dimension(),
                chunk.partition(),
                (int) chunk.sequence(),
                (int) (chunk.sequence() >>> Integer.SIZE),
                STATUSES[(int) status]);
    }

    /**
     * Returns the mark as a chunk without rows.
     *
     * @param schema of the dimension
     */
    public Chunk toChunk(ChunkSchema schema) {
        return new ChunkBuilder(schema, 1)
                .seal(
                        dimension,
                        partition,
                        Long.MIN_VALUE | status.ordinal(),
                        (long) parallelism << Integer.SIZE | subtask);
    }
}
