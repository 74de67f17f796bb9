// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.data;

import io.github.gpujoin.core.layout.Chunk;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.annotation.Experimental;

/**
 * Writes the results of one attempt of a {@code ChunkJoin}, for example to a columnar file. Used by
 * one thread.
 */
@Experimental
public interface JoinedChunkWriter extends AutoCloseable {

    /** Creates the writer of an attempt. */
    @Experimental
    @FunctionalInterface
    interface Factory extends Serializable {

        /**
         * Creates a writer.
         *
         * @param attempt number of the attempt, from 0
         * @param threads that the writer may use besides those of the join
         * @return the writer, which the join closes
         * @throws IOException if it cannot be created
         */
        JoinedChunkWriter create(int attempt, int threads) throws IOException;
    }

    /**
     * Writes result rows.
     *
     * @param rows chunk on the heap, with all columns of the left side if {@code hasLeft}, then all
     *     columns of the right side if {@code hasRight}
     * @param hasLeft false for right rows without a match
     * @param hasRight false for left rows without a match, and in semi and anti joins
     * @throws IOException if rows cannot be written, which fails the attempt
     * @throws InterruptedException if the job is cancelled
     */
    void write(Chunk rows, boolean hasLeft, boolean hasRight)
            throws IOException, InterruptedException;

    /**
     * Completes the results, which must not be visible before. Not called if the attempt fails.
     *
     * @throws IOException if the results cannot be completed, which fails the attempt
     * @throws InterruptedException if the job is cancelled
     */
    void finish() throws IOException, InterruptedException;

    /**
     * Releases all resources, and discards results that are not complete.
     *
     * @throws IOException if that fails
     */
    @Override
    void close() throws IOException;
}
