// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.expiry;

import java.io.Serializable;
import java.util.List;
import java.util.Set;

/**
 * Times to live of the rows of each side, in processing time. Serialized with the job.
 *
 * @param factsMs longest time for which facts wait for the dimensions; {@value #FOREVER} for no
 *     limit
 * @param dimensions whose rows expire
 */
public record TimesToLive(long factsMs, List<DimensionTtl> dimensions) implements Serializable {

    /** For {@link #factsMs}. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** All rows live for ever. */
    public static final TimesToLive NONE = new TimesToLive(FOREVER, List.of());

    public TimesToLive {
        if (factsMs < 1) {
            throw new IllegalArgumentException(
                    "Time to live is shorter than 1 ms: side=facts, ttlMs=%d. Use .ttl(...) of at least 1 ms."
                            .formatted(factsMs));
        }
        dimensions = List.copyOf(dimensions);
    }

    /**
     * The same without some dimensions.
     *
     * @param numbers of the dimensions
     */
    public TimesToLive without(Set<Integer> numbers) {
        return new TimesToLive(
                factsMs,
                dimensions.stream().filter(ttl -> !numbers.contains(ttl.dimension())).toList());
    }
}
