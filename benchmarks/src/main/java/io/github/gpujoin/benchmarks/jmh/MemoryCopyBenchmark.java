// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The yardstick: copies the bytes of the working set. */
@State(Scope.Thread)
public class MemoryCopyBenchmark {

    private final byte[] source = new byte[WorkingSet.BYTES];
    private final byte[] target = new byte[WorkingSet.BYTES];

    @Benchmark
    public byte[] memoryCopy() {
        System.arraycopy(source, 0, target, 0, source.length);
        return target;
    }
}
