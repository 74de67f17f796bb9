// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.List;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput.DataOutput;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/** The inputs of a chain of operators, as Flink's task loop sees them. */
final class ChainInputs {

    private ChainInputs() {}

    /**
     * Returns both inputs of a chain. A chain whose first operator has one input receives the
     * elements of both there.
     *
     * @param finished whether the chain finished before it was deployed, so that it reads nothing
     */
    static List<DataOutput<Object>> of(OperatorChain chain, boolean finished) {
        if (!finished && chain.first() instanceof TwoInputStreamOperator<?, ?, ?> join) {
            return List.of(new FirstInput(join), new SecondInput(join));
        }
        return List.of(new OneInput(chain, finished), new OneInput(chain, finished));
    }

    private abstract static class Quiet implements DataOutput<Object> {
        @Override
        public void emitLatencyMarker(LatencyMarker marker) {}

        @Override
        public void emitRecordAttributes(RecordAttributes attributes) {}

        @Override
        public void emitWatermark(WatermarkEvent watermark) {}
    }

    /** Passes elements to the first operator or the sink, unless the chain has finished. */
    private static final class OneInput extends Quiet {
        private final OperatorChain chain;
        private final boolean finished;

        private OneInput(OperatorChain chain, boolean finished) {
            this.chain = chain;
            this.finished = finished;
        }

        @Override
        public void emitRecord(StreamRecord<Object> record) throws Exception {
            chain.head().accept(record);
        }

        @Override
        public void emitWatermark(Watermark mark) throws Exception {
            if (!finished) {
                chain.head().accept(mark);
            }
        }

        @Override
        public void emitWatermarkStatus(WatermarkStatus status) throws Exception {
            if (!finished) {
                chain.head().accept(status);
            }
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static final class FirstInput extends Quiet {
        private final TwoInputStreamOperator operator;

        private FirstInput(TwoInputStreamOperator operator) {
            this.operator = operator;
        }

        @Override
        public void emitRecord(StreamRecord<Object> record) throws Exception {
            operator.setKeyContextElement1(record);
            operator.processElement1(record);
        }

        @Override
        public void emitWatermark(Watermark mark) throws Exception {
            operator.processWatermark1(mark);
        }

        @Override
        public void emitWatermarkStatus(WatermarkStatus status) throws Exception {
            operator.processWatermarkStatus1(status);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static final class SecondInput extends Quiet {
        private final TwoInputStreamOperator operator;

        private SecondInput(TwoInputStreamOperator operator) {
            this.operator = operator;
        }

        @Override
        public void emitRecord(StreamRecord<Object> record) throws Exception {
            operator.setKeyContextElement2(record);
            operator.processElement2(record);
        }

        @Override
        public void emitWatermark(Watermark mark) throws Exception {
            operator.processWatermark2(mark);
        }

        @Override
        public void emitWatermarkStatus(WatermarkStatus status) throws Exception {
            operator.processWatermarkStatus2(status);
        }
    }
}
