// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.util.Arrays;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Versions and facts that are emitted together, the versions before the facts. So the facts of a
 * version's key in the batch must be those that see it.
 */
final class EventTimeBatch {

    private static final int CHUNK_BYTES = 16 << 10;

    /** Rows of a side, in one chunk a partition. */
    private static final class Rows {
        private final ChunkSchema schema;
        private final int dimension;
        private @Nullable ChunkBuilder[] builders = new ChunkBuilder[0];
        private int count;

        Rows(ChunkSchema schema, int dimension) {
            this.schema = schema;
            this.dimension = dimension;
        }

        /** Adds a row; returns whether its chunk is full now. */
        boolean add(Chunk chunk, int row) {
            ChunkBuilder builder = builder(chunk.partition());
            builder.addRow(chunk, row);
            count++;
            return builder.isFull();
        }

        private ChunkBuilder builder(int partition) {
            if (partition >= builders.length) {
                builders = Arrays.copyOf(builders, 1 + partition);
            }
            ChunkBuilder builder = builders[partition];
            if (builder == null) {
                builder = new ChunkBuilder(schema, CHUNK_BYTES);
                builders[partition] = builder;
            }
            return builder;
        }

        void emit(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
            if (count == 0) {
                return;
            }
            count = 0;
            for (int partition = 0; partition < builders.length; partition++) {
                ChunkBuilder builder = builders[partition];
                if (builder != null && !builder.isEmpty()) {
                    consumer.accept(builder.seal(dimension, partition, 0, 0));
                }
            }
        }
    }

    private final Rows versions;
    private final Rows facts;
    private final EventTimeOrder.Target target;

    /**
     * @param number of the dimension
     */
    EventTimeBatch(
            DimensionSpec side, int number, ChunkSchema factSchema, EventTimeOrder.Target target) {
        this.versions = new Rows(side.schema(), number);
        this.facts = new Rows(factSchema, ChunkDescriptor.FACTS);
        this.target = target;
    }

    /** Adds a version; no fact of its key may be in the batch. */
    void addVersion(Chunk chunk, int row) throws Exception {
        if (versions.add(chunk, row)) {
            emit();
        }
    }

    void addFact(Chunk chunk, int row) throws Exception {
        if (facts.add(chunk, row)) {
            emit();
        }
    }

    /** Emits the versions, and then the facts. */
    void emit() throws Exception {
        versions.emit(target::change);
        facts.emit(target::facts);
    }
}
