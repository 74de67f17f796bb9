// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.BuildRow;
import io.github.gpujoin.benchmarks.workload.JoinedRow;
import io.github.gpujoin.benchmarks.workload.ProbeRow;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * The join that Flink's users write by hand: the build row in keyed state, probe rows that come
 * before it kept until it comes.
 */
final class KeyedJoinFunction extends KeyedCoProcessFunction<Long, BuildRow, ProbeRow, JoinedRow> {

    private static final long serialVersionUID = 1L;

    private transient ValueState<BuildRow> build;
    private transient ListState<ProbeRow> early;

    @Override
    public void open(OpenContext context) {
        build = getRuntimeContext().getState(new ValueStateDescriptor<>("build", BuildRow.class));
        early =
                getRuntimeContext()
                        .getListState(new ListStateDescriptor<>("early", ProbeRow.class));
    }

    @Override
    public void processElement1(BuildRow row, Context context, Collector<JoinedRow> out)
            throws Exception {
        build.update(row);
        for (ProbeRow probe : early.get()) {
            out.collect(new JoinedRow(probe.probePayload, row.buildPayload));
        }
        early.clear();
    }

    @Override
    public void processElement2(ProbeRow probe, Context context, Collector<JoinedRow> out)
            throws Exception {
        BuildRow row = build.value();
        if (row == null) {
            early.add(probe);
        } else {
            out.collect(new JoinedRow(probe.probePayload, row.buildPayload));
        }
    }
}
