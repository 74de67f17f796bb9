// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;

/** A version that the watermark has passed, and that is not in the table yet. */
final class DueVersion {

    private final DeferredChunk rows;
    private final int row;
    private final long time;

    /** Due facts that see this version. */
    private List<FactRow> facts = List.of();

    /**
     * @param rows chunk that holds the version's row
     * @param row index in the chunk as it arrived
     * @param time event time in ms
     */
    DueVersion(DeferredChunk rows, int row, long time) {
        this.rows = rows;
        this.row = row;
        this.time = time;
    }

    long time() {
        return time;
    }

    /** Chunk with the version, at {@link #indexInChunk}. */
    Chunk chunk() throws Exception {
        return rows.chunk();
    }

    int indexInChunk() {
        return rows.indexOf(row);
    }

    DeferredChunk rows() {
        return rows;
    }

    /** Releases the row; returns whether its chunk has left the log. */
    boolean release() throws Exception {
        return rows.release(row);
    }

    void addFact(FactRow fact) {
        if (facts.isEmpty()) {
            facts = new ArrayList<>();
        }
        facts.add(fact);
    }

    List<FactRow> facts() {
        return facts;
    }
}
