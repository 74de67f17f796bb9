// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** Bytes of the chunks that an attempt appends to its logs. One thread adds; any thread reads. */
public final class LogBytes {

    private volatile long stored;
    private volatile long plain;

    /** Counts a chunk, which is stored as {@code bytes}. */
    void add(Chunk chunk, byte[] bytes) {
        stored += bytes.length;
        plain += chunk.lengthBytes();
    }

    /** Registers the bytes in state, and those that the same chunks have with plain columns. */
    public void register(MetricGroup group) {
        group.gauge("loggedBytes", (Gauge<Long>) () -> stored);
        group.gauge("loggedPlainBytes", (Gauge<Long>) () -> plain);
    }
}
