// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.BuildRow;
import io.github.gpujoin.benchmarks.workload.JoinedRow;
import io.github.gpujoin.benchmarks.workload.ProbeRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Flink's broadcast state pattern: every subtask has the whole build side in a map on its heap, and
 * probe rows stay where they were read. Probe rows that come before their build row are kept until
 * it comes; they are not in a snapshot, which a benchmark does not take.
 */
final class BroadcastJoinFunction extends BroadcastProcessFunction<ProbeRow, BuildRow, JoinedRow> {

    private static final long serialVersionUID = 1L;

    static final MapStateDescriptor<Long, BuildRow> BUILD =
            new MapStateDescriptor<>("build", Types.LONG, TypeInformation.of(BuildRow.class));

    private transient Map<Long, List<ProbeRow>> early;

    @Override
    public void open(OpenContext context) {
        early = new HashMap<>();
    }

    @Override
    public void processBroadcastElement(BuildRow row, Context context, Collector<JoinedRow> out)
            throws Exception {
        context.getBroadcastState(BUILD).put(row.buildKey, row);
        List<ProbeRow> waiting = early.remove(row.buildKey);
        if (waiting != null) {
            waiting.forEach(
                    probe -> out.collect(new JoinedRow(probe.probePayload, row.buildPayload)));
        }
    }

    @Override
    public void processElement(ProbeRow probe, ReadOnlyContext context, Collector<JoinedRow> out)
            throws Exception {
        BuildRow row = context.getBroadcastState(BUILD).get(probe.probeKey);
        if (row == null) {
            early.computeIfAbsent(probe.probeKey, key -> new ArrayList<>()).add(probe);
        } else {
            out.collect(new JoinedRow(probe.probePayload, row.buildPayload));
        }
    }
}
