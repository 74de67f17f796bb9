// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.RecordLayout;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Gives results the event timestamp of their fact row, where the facts carry it. */
final class FactTimestamps {

    private final int column;
    private Chunk chunk;

    FactTimestamps(JoinSpec spec) {
        this.column = spec.factSchema().indexOf(RecordLayout.TIMESTAMP);
    }

    void bind(Chunk chunk) {
        this.chunk = chunk;
    }

    void apply(int probeRow, StreamRecord<?> element) {
        if (column < 0) {
            return;
        }
        long at = chunk.columnStart(column) + 8L * probeRow;
        long timestamp = Memory.getLong(chunk.array(), at);
        if (timestamp == Long.MIN_VALUE) {
            element.eraseTimestamp();
        } else {
            element.setTimestamp(timestamp);
        }
    }
}
