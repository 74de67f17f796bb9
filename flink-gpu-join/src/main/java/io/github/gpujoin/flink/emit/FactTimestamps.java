// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.RecordLayout;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/** Gives results the event timestamp of their fact row, where the facts carry it. */
final class FactTimestamps {

    /** Null if facts have no timestamps. */
    private final @Nullable PlainColumn column;

    FactTimestamps(JoinSpec spec) {
        int index = spec.factSchema().indexOf(RecordLayout.TIMESTAMP);
        this.column = index < 0 ? null : new PlainColumn(index);
    }

    void bind(Chunk chunk) {
        if (column != null) {
            column.bind(chunk);
        }
    }

    void apply(int probeRow, StreamRecord<?> element) {
        if (column == null) {
            return;
        }
        long timestamp = Memory.getLong(column.base(), column.start() + 8L * probeRow);
        if (timestamp == Long.MIN_VALUE) {
            element.eraseTimestamp();
        } else {
            element.setTimestamp(timestamp);
        }
    }
}
