// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.kafka;

import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** Counts rows in the chain of the source, and measures from the first element to the end. */
final class Counting<T> extends RichFlatMapFunction<T, Long> {

    private static final long serialVersionUID = 1L;

    /** A function of an element that Flink can ship. */
    interface Figure<T> extends ToLongFunction<T>, Serializable {}

    /** What a job read, and the time that its task took for it. */
    record Count(long rows, long sum, long elapsedNs, long taskCpuNs) {}

    /** Of the last job, which runs in this process. */
    static final AtomicReference<Count> LAST = new AtomicReference<>();

    private final Figure<T> rowsOf;
    private final Figure<T> sumOf;
    private transient long rows;
    private transient long sum;
    private transient long startNs;
    private transient long startCpuNs;

    private Counting(Figure<T> rowsOf, Figure<T> sumOf) {
        this.rowsOf = rowsOf;
        this.sumOf = sumOf;
    }

    static <T> void count(DataStream<T> stream, Figure<T> rowsOf, Figure<T> sumOf) {
        stream.flatMap(new Counting<>(rowsOf, sumOf))
                .returns(Types.LONG)
                .sinkTo(new DiscardingSink<>());
    }

    @Override
    public void open(OpenContext context) {
        rows = 0;
    }

    @Override
    public void flatMap(T element, Collector<Long> out) {
        if (rows == 0) {
            startNs = System.nanoTime();
            startCpuNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        }
        rows += rowsOf.applyAsLong(element);
        sum += sumOf.applyAsLong(element);
    }

    @Override
    public void close() {
        long cpuNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - startCpuNs;
        LAST.set(new Count(rows, sum, System.nanoTime() - startNs, cpuNs));
    }
}
