// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;

/**
 * Metrics of the readers of one subtask. Used by the thread that fetches; reporters may see old
 * counts.
 *
 * @param rowsRead rows in chunks
 * @param rowsSkipped rows that fail a condition of the join
 * @param splitBytesRead bytes of the splits that were read to their end
 */
record ReadProgress(Counter rowsRead, Counter rowsSkipped, Counter splitBytesRead) {

    static ReadProgress of(MetricGroup metrics) {
        return new ReadProgress(
                metrics.counter("rowsRead"),
                metrics.counter("rowsSkipped"),
                metrics.counter("splitBytesRead"));
    }
}
