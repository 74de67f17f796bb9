// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import org.apache.flink.metrics.MetricGroup;

/** Metrics of a bulk join, whose left input is the probe side. */
final class BulkJoinMetrics {

    private BulkJoinMetrics() {}

    static void register(MetricGroup metrics, BulkJoinOpener.Opened opened) {
        BulkJoin join = opened.join();
        metrics.gauge("engine", opened::name);
        metrics.gauge("buildRows", () -> join.stats().rightRows());
        metrics.gauge("probeRows", () -> join.stats().leftRows());
        metrics.gauge("joinedRows", () -> join.stats().resultRows());
        metrics.gauge("joinBytes", () -> join.stats().memoryBytes());
        metrics.gauge("spilledBytes", () -> join.stats().spilledBytes());
        if (opened.refusal() != null) {
            metrics.addGroup("reason", opened.refusal().name()).counter("fallbacks").inc();
        }
    }
}
