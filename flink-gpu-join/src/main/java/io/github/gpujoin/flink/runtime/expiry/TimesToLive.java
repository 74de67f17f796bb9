package io.github.gpujoin.flink.runtime.expiry;

import java.io.Serializable;
import java.util.List;
import java.util.Set;

/**
 * How long rows of each side live, in processing time. Travels with the job.
 *
 * @param factsMs how long facts wait for the dimensions to be complete; {@value #FOREVER} for as
 *     long as it takes
 * @param dimensions those whose rows do not live until they are deleted
 */
public record TimesToLive(long factsMs, List<DimensionTtl> dimensions) implements Serializable {

    /** For {@link #factsMs}. */
    public static final long FOREVER = Long.MAX_VALUE;

    /** All rows live for ever. */
    public static final TimesToLive NONE = new TimesToLive(FOREVER, List.of());

    public TimesToLive {
        if (factsMs < 1) {
            throw new IllegalArgumentException(
                    "a time to live is at least 1 ms: side=facts, ttlMs=" + factsMs);
        }
        dimensions = List.copyOf(dimensions);
    }

    /**
     * Without those of some dimensions.
     *
     * @param numbers of the dimensions
     */
    public TimesToLive without(Set<Integer> numbers) {
        return new TimesToLive(
                factsMs,
                dimensions.stream().filter(ttl -> !numbers.contains(ttl.dimension())).toList());
    }
}
