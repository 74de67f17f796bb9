// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;

/**
 * Routes chunks to the owners of their partitions, like {@code keyBy}. It also identifies the side
 * of the edge, since both sides may share one input of the join.
 */
public final class RingSendPartitioner extends KeyGroupStreamPartitioner<Chunk, Integer> {

    private static final long serialVersionUID = 1L;

    private final String join;
    private final JoinSide side;

    /**
     * @param keys returns the key of a chunk's partition
     * @param maxParallelism of the join
     * @param join prefix of the uids of the join's operators
     */
    public RingSendPartitioner(
            KeySelector<Chunk, Integer> keys, int maxParallelism, String join, JoinSide side) {
        super(keys, maxParallelism);
        this.join = join;
        this.side = side;
    }

    String join() {
        return join;
    }

    public JoinSide side() {
        return side;
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other)
                && join.equals(((RingSendPartitioner) other).join)
                && side == ((RingSendPartitioner) other).side;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * super.hashCode() + join.hashCode()) + side.hashCode();
    }
}
