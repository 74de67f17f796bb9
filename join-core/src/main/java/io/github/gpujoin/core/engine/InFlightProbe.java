// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;

/**
 * An in-flight probe chunk: not all of its results were polled.
 *
 * @param chunk the facts
 * @param firstRow first row whose results are still needed, from 0 to the row count
 */
public record InFlightProbe(Chunk chunk, int firstRow) {

    public InFlightProbe {
        if (firstRow < 0 || firstRow > chunk.rowCount()) {
            throw new IllegalArgumentException(
                    "First row to join is outside the chunk: firstRow="
                            + firstRow
                            + ", rowCount="
                            + chunk.rowCount());
        }
    }
}
