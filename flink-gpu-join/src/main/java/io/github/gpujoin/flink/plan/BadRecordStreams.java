// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.api.data.BadRecord;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.jspecify.annotations.Nullable;

/**
 * The bad-record side outputs of a join's packers, and their consumer. Used while the job graph is
 * built.
 */
public final class BadRecordStreams {

    private final List<DataStream<BadRecord>> streams = new ArrayList<>();
    private @Nullable Consumer<DataStream<BadRecord>> user;

    /** Sets the consumer of the bad records of all sides, which packers then skip. */
    public void user(Consumer<DataStream<BadRecord>> user) {
        this.user = user;
    }

    boolean isWanted() {
        return user != null;
    }

    void add(SingleOutputStreamOperator<?> packer) {
        streams.add(packer.getSideOutput(AbstractPackOperator.BAD_RECORDS));
    }

    /** Passes the union of all side outputs to the consumer. Called once all packers are added. */
    void emitAll() {
        if (user != null) {
            DataStream<BadRecord> first = streams.get(0);
            List<DataStream<BadRecord>> others = streams.subList(1, streams.size());
            user.accept(first.union(others.toArray(DataStream[]::new)));
        }
        streams.clear();
    }
}
