// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;

/** The smallest part of a second that a field tells apart. */
public enum TimeResolution {
    MILLISECONDS(1_000_000),
    MICROSECONDS(1_000),
    NANOSECONDS(1);

    private final int nanos;

    TimeResolution(int nanos) {
        this.nanos = nanos;
    }

    /**
     * Whether a field holds the value as it is.
     *
     * @param time with nanoseconds of a second, but for {@link #NANOSECONDS}, which hold anything
     */
    public boolean holds(Object time) {
        return nanos == 1 || ((TemporalAccessor) time).get(ChronoField.NANO_OF_SECOND) % nanos == 0;
    }
}
