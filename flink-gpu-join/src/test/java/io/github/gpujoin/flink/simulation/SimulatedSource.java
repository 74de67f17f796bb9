// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput.DataOutput;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.StatusWatermarkValve;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * A source subtask that plays the scripts of its splits. Its state is the position in each. After a
 * restore, a source that ends repeats no watermark or status, and any other one does.
 */
final class SimulatedSource {

    /** A split and how far it is read. */
    private static final class Reader {
        private final Split split;
        private int position;

        /** To be said first; null for nothing. */
        private StreamElement repeated;

        private Reader(Split split, int position, boolean repeats) {
            this.split = split;
            this.position = position;
            this.repeated = repeats ? split.lastTimeBefore(position) : null;
        }

        private StreamElement next() {
            StreamElement next = repeated;
            repeated = null;
            return next == null ? split.script().get(position++) : next;
        }

        private boolean isOver() {
            return position == split.script().size();
        }

        private boolean isAtGate() {
            return !isOver() && Split.isGate(split.script().get(position));
        }
    }

    private final List<Reader> readers = new ArrayList<>();
    private final boolean bounded;
    private final StatusWatermarkValve valve;
    private final DataOutput<Object> output;
    private boolean saidIdle;
    private boolean gatesAreOpen;

    /**
     * @param positions of splits, from 0 where they have none
     * @param bounded whether the source ends with its splits
     * @param repeats whether it says again how far its splits are, as a source that goes on without
     *     an end does after a while
     */
    SimulatedSource(
            List<Split> splits,
            Map<Integer, Integer> positions,
            boolean bounded,
            boolean repeats,
            ChainOutput.Target target) {
        splits.forEach(
                split ->
                        readers.add(
                                new Reader(
                                        split,
                                        positions.getOrDefault(split.number(), 0),
                                        repeats)));
        this.bounded = bounded;
        this.valve = new StatusWatermarkValve(Math.max(1, splits.size()));
        this.output = new ToTarget(target);
    }

    /** Whether it has an element to emit. */
    boolean hasNext() {
        return readers.stream().anyMatch(this::isReady) || mustSayIdle();
    }

    private boolean isReady(Reader reader) {
        return reader.repeated != null || !reader.isOver() && (gatesAreOpen || !reader.isAtGate());
    }

    boolean isAtGate() {
        return !gatesAreOpen && readers.stream().anyMatch(Reader::isAtGate);
    }

    /** Lets splits go on that wait for all that came before. */
    void openGates() {
        gatesAreOpen = true;
    }

    /** Without a split, an unbounded source has nothing to say of time. */
    private boolean mustSayIdle() {
        return readers.isEmpty() && !bounded && !saidIdle;
    }

    boolean isOver() {
        return bounded && readers.stream().allMatch(Reader::isOver);
    }

    void emit(Choices choices) throws Exception {
        if (mustSayIdle()) {
            saidIdle = true;
            output.emitWatermarkStatus(WatermarkStatus.IDLE);
            return;
        }
        List<Integer> ready = new ArrayList<>();
        for (int i = 0; i < readers.size(); i++) {
            if (isReady(readers.get(i))) {
                ready.add(i);
            }
        }
        int index = ready.get(choices.next(ready.size()));
        Reader reader = readers.get(index);
        StreamElement element = reader.next();
        if (Split.isGate(element)) {
            return;
        }
        if (element.isRecord()) {
            StreamRecord<Object> record = element.asRecord();
            output.emitRecord(record.copy(record.getValue()));
        } else if (element.isWatermark()) {
            valve.inputWatermark(element.asWatermark(), index, output);
        } else {
            valve.inputWatermarkStatus(element.asWatermarkStatus(), index, output);
        }
    }

    Map<Integer, Integer> positions() {
        Map<Integer, Integer> positions = new TreeMap<>();
        readers.forEach(reader -> positions.put(reader.split.number(), reader.position));
        return positions;
    }

    /** Passes what the valve lets through to the chain. */
    private record ToTarget(ChainOutput.Target target) implements DataOutput<Object> {

        @Override
        public void emitRecord(StreamRecord<Object> record) throws Exception {
            target.accept(record);
        }

        @Override
        public void emitWatermark(Watermark mark) throws Exception {
            target.accept(mark);
        }

        @Override
        public void emitWatermarkStatus(WatermarkStatus status) throws Exception {
            target.accept(status);
        }

        @Override
        public void emitLatencyMarker(LatencyMarker marker) {}

        @Override
        public void emitRecordAttributes(RecordAttributes attributes) {}

        @Override
        public void emitWatermark(WatermarkEvent watermark) {}
    }
}
