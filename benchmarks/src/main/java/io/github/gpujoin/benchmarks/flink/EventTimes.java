// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.BuildRow;
import io.github.gpujoin.benchmarks.workload.ProbeRow;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;

/**
 * Event times of the tuples, for joins that go by them: all build rows are of time 0, with no
 * watermark but their end, and probe rows are of the time at which they are sent. Watermarks of
 * these come as often as Flink's settings say, also while none is sent.
 */
final class EventTimes {

    private EventTimes() {}

    static WatermarkStrategy<BuildRow> build() {
        return WatermarkStrategy.<BuildRow>noWatermarks().withTimestampAssigner((row, before) -> 0);
    }

    static WatermarkStrategy<ProbeRow> probe() {
        return WatermarkStrategy.<ProbeRow>forGenerator(context -> new UpToNow<>())
                .withTimestampAssigner((row, before) -> System.currentTimeMillis());
    }

    private static final class UpToNow<T> implements WatermarkGenerator<T> {

        @Override
        public void onEvent(T row, long timestamp, WatermarkOutput output) {}

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {
            output.emitWatermark(new Watermark(System.currentTimeMillis() - 1));
        }
    }
}
