// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.types.Row;

/**
 * The job's sink, with a transaction a checkpoint: a row counts once the checkpoint after it is
 * complete.
 */
final class SinkResults {

    /** What the sink's subtasks of one attempt have. */
    final class Attempt {

        private final Map<Integer, List<String>> open = new HashMap<>();
        private final Set<Integer> withRows = new HashSet<>();
        private final Map<Integer, Long> watermarks = new HashMap<>();
        private final TreeMap<Long, List<String>> prepared = new TreeMap<>();

        /** Takes an element of a subtask of the sink. */
        void accept(int subtask, StreamElement element) {
            if (element.isRecord()) {
                long mark = watermarks.getOrDefault(subtask, Long.MIN_VALUE);
                if (element.asRecord().hasTimestamp()
                        && element.asRecord().getTimestamp() <= mark) {
                    throw new LifeFailure(
                            "a watermark was ahead of a result: watermark="
                                    + mark
                                    + ", timestamp="
                                    + element.asRecord().getTimestamp()
                                    + ", result="
                                    + element.asRecord().getValue());
                }
                VirtualTime.advanceNs(rowNs);
                withRows.add(subtask);
                open.computeIfAbsent(subtask, s -> new ArrayList<>())
                        .add(text((Row) element.asRecord().getValue()));
            } else if (element.isWatermark()) {
                watermarks.put(subtask, element.asWatermark().getTimestamp());
            }
        }

        /** Whether the subtask of the sink has had a row. */
        boolean hasRows(int subtask) {
            return withRows.contains(subtask);
        }

        void prepare(int subtask, long checkpoint) {
            List<String> rows = open.remove(subtask);
            if (rows != null) {
                prepared.computeIfAbsent(checkpoint, c -> new ArrayList<>()).addAll(rows);
            }
        }

        void commit(long checkpoint) {
            Map<Long, List<String>> before = prepared.headMap(checkpoint, true);
            before.values().forEach(committed::addAll);
            before.clear();
        }
    }

    private final List<String> committed = new ArrayList<>();
    private final long rowNs;

    /**
     * @param rowNs time that the sink takes for a row
     */
    SinkResults(long rowNs) {
        this.rowNs = rowNs;
    }

    Attempt newAttempt() {
        return new Attempt();
    }

    List<String> committed() {
        return committed;
    }

    private static String text(Row row) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < row.getArity(); i++) {
            text.append(i == 0 ? "" : "|").append(row.getField(i));
        }
        return text.toString();
    }
}
