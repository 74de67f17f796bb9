// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import java.io.Serializable;
import java.util.function.ToLongFunction;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Counts results, adds up their checksums, and drops them. */
final class WindowSink<R> implements Sink<R> {

    private static final long serialVersionUID = 1L;

    private static final int ROWS_PER_REPORT = 1024;

    /** What a result adds to the sum. */
    interface Checksum<R> extends ToLongFunction<R>, Serializable {}

    private final int window;
    private final Checksum<R> checksum;

    WindowSink(CpuWindow window, Checksum<R> checksum) {
        this.window = window.id();
        this.checksum = checksum;
    }

    @Override
    public SinkWriter<R> createWriter(WriterInitContext context) {
        return new Writer<>(CpuWindow.of(window), checksum);
    }

    private static final class Writer<R> implements SinkWriter<R> {

        private final CpuWindow window;
        private final Checksum<R> checksum;
        private int rows;
        private long sum;

        Writer(CpuWindow window, Checksum<R> checksum) {
            this.window = window;
            this.checksum = checksum;
        }

        @Override
        public void write(R result, Context context) {
            sum += checksum.applyAsLong(result);
            if (++rows == ROWS_PER_REPORT) {
                report();
            }
        }

        private void report() {
            window.add(rows, sum);
            rows = 0;
            sum = 0;
        }

        @Override
        public void flush(boolean endOfInput) {
            if (endOfInput) {
                report();
            }
        }

        @Override
        public void close() {}
    }
}
