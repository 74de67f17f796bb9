// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.emit.ResultEmitter;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Emits groups as {@code "key|count|sum"}. */
final class GroupTextEmitter implements ResultEmitter<String> {

    /** Reads the key of a group. */
    interface Key {
        Object of(GroupRows groups, int row);
    }

    private final Key key;

    /** For groups of an integer. */
    GroupTextEmitter() {
        this((groups, row) -> groups.groupValue(row, 0));
    }

    GroupTextEmitter(Key key) {
        this.key = key;
    }

    @Override
    public void emit(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
        throw new AssertionError("an aggregating engine gives no rows");
    }

    @Override
    public void emit(GroupRows groups, Output<StreamRecord<String>> output) {
        for (int row = 0; row < groups.rowCount(); row++) {
            String text =
                    key.of(groups, row)
                            + "|"
                            + groups.aggregate(row, 0)
                            + "|"
                            + groups.aggregate(row, 1);
            output.collect(new StreamRecord<>(text));
        }
    }
}
