// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.expiry;

import java.io.Serializable;

/**
 * Time to live of a row of a changelog dimension since its last change. Serialized with the job.
 *
 * @param timeColumn fixed INT64 column of the dimension, in which the join writes the processing
 *     time in ms at which a change arrived
 * @param partitioned whether each partition has a log of its own
 */
public record DimensionTtl(int dimension, int timeColumn, long ttlMs, boolean partitioned)
        implements Serializable {

    public DimensionTtl {
        if (ttlMs < 1) {
            throw new IllegalArgumentException(
                    "Time to live is shorter than 1 ms: dimension=%d, ttlMs=%d. Use .ttl(...) of at least 1 ms."
                            .formatted(dimension, ttlMs));
        }
    }

    /** The same, if each partition has its own log. */
    public DimensionTtl byPartition() {
        return new DimensionTtl(dimension, timeColumn, ttlMs, true);
    }
}
