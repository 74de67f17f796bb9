package io.github.gpujoin.flink.runtime.expiry;

import java.io.Serializable;

/**
 * How long a row of a dimension that changes lives after its last change. Travels with the job.
 *
 * @param timeColumn fixed INT64 column of the dimension, in which the join keeps the processing
 *     time in ms at which a change arrived
 * @param partitioned whether each partition has a log of its own
 */
public record DimensionTtl(int dimension, int timeColumn, long ttlMs, boolean partitioned)
        implements Serializable {

    public DimensionTtl {
        if (ttlMs < 1) {
            throw new IllegalArgumentException(
                    "a time to live is at least 1 ms: dimension=" + dimension + ", ttlMs=" + ttlMs);
        }
    }

    /** The same where each partition has a log of its own. */
    public DimensionTtl byPartition() {
        return new DimensionTtl(dimension, timeColumn, ttlMs, true);
    }
}
