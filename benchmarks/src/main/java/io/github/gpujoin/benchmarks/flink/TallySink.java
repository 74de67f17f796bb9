// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Counts results, adds up those that its run checks, opens the run's gate, and stops its clock at
 * the end of input.
 */
final class TallySink<R> implements Sink<R> {

    private static final long serialVersionUID = 1L;

    private final int run;
    private final Tally<R> tally;

    TallySink(FlinkRun run, Tally<R> tally) {
        this.run = run.id();
        this.tally = tally;
    }

    @Override
    public SinkWriter<R> createWriter(WriterInitContext context) {
        int subtask = context.getTaskInfo().getIndexOfThisSubtask();
        return new Writer<>(FlinkRun.of(run), subtask, tally);
    }

    private static final class Writer<R> implements SinkWriter<R> {

        private final FlinkRun run;
        private final Tally<R> tally;
        private final boolean endless;
        private final SinkPace pace;
        private final CheckedRows checked;
        private long count;
        private long checksum;

        Writer(FlinkRun run, int subtask, Tally<R> tally) {
            this.run = run;
            this.tally = tally;
            this.endless = run.isEndless();
            this.pace = new SinkPace(run.sinkRowsPerSecond());
            this.checked = run.checkedRows(subtask);
        }

        @Override
        public void write(R result, Context context) {
            if (run.isGateOpen()) {
                pace.take(tally.rows(result));
                count += tally.rows(result);
                checksum += checked.sum(tally, result);
                if (endless) {
                    run.addResultRows(tally.rows(result));
                }
            } else {
                run.primesAnswered(tally.rows(result));
            }
        }

        @Override
        public void flush(boolean endOfInput) {
            if (endOfInput) {
                run.finished(new JoinAnswer(count, checksum));
            }
        }

        @Override
        public void close() {}
    }
}
