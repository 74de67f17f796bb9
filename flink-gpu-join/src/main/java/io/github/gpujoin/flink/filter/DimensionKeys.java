// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the keys of the dimensions of one subtask while they load. For the task's thread.
 *
 * <p>After a restore, an engine that divides the build side reads the rows of a partitioned
 * dimension from the log, partition after partition, while it builds its tables. The keys are
 * collected as it reads, since a read of their own would prolong the restore. It does not read
 * spilled partitions; then the dimension has no filter.
 */
public final class DimensionKeys {

    private static final Logger LOG = LoggerFactory.getLogger(DimensionKeys.class);

    private final JoinSpec spec;
    private Map<Integer, KeyFilterBuilder> builders = new TreeMap<>();

    /** Rows in the log that are not read completely, by partition. */
    private final Map<Integer, Unread> unread = new HashMap<>();

    /**
     * @param next index of the next chunk
     * @param chunkCount of those that were restored
     */
    private record Unread(int dimension, long next, long chunkCount) {}

    public DimensionKeys(JoinSpec spec, FilterPlan plan) {
        this.spec = spec;
        plan.dimensions()
                .forEach(d -> builders.put(d.number(), new KeyFilterBuilder(plan.maxBytes())));
    }

    /** Adds the keys of a chunk of any dimension. */
    public void add(Chunk chunk) {
        KeyFilterBuilder builder = builders.get(chunk.dimension());
        if (builder == null) {
            return;
        }
        int column = spec.dimensions().get(chunk.dimension()).keyColumn();
        int widthBytes = chunk.schema().column(column).type().widthBytes();
        byte @Nullable [] array = chunk.array();
        long start = chunk.columnStart(column);
        for (int row = 0; row < chunk.rowCount(); row++) {
            builder.add(Memory.getInteger(array, start + (long) widthBytes * row, widthBytes));
        }
    }

    /**
     * Awaits the restored rows of a partition, whose keys are not {@linkplain #add added}, but
     * {@linkplain #read read} from the log.
     *
     * @param chunkCount number of chunks in the log; 0 if the partition is empty
     */
    public void await(int dimension, int partition, long chunkCount) {
        if (chunkCount > 0 && builders.containsKey(dimension)) {
            unread.put(partition, new Unread(dimension, 0, chunkCount));
        }
    }

    /** Whether rows that are {@linkplain #await awaited} have not been read. */
    public boolean awaitsLog() {
        return !unread.isEmpty();
    }

    /**
     * Adds the keys of a chunk that an engine reads from the log, the first time it reads it.
     *
     * @param index of the chunk in its partition
     */
    public void read(int partition, long index, Chunk chunk) {
        Unread rows = unread.get(partition);
        if (rows == null || index != rows.next()) {
            return;
        }
        add(chunk);
        if (index + 1 == rows.chunkCount()) {
            unread.remove(partition);
        } else {
            unread.put(partition, new Unread(rows.dimension(), index + 1, rows.chunkCount()));
        }
    }

    /**
     * Returns the keys of complete dimensions by number, without dimensions of which keys are
     * missing. Afterwards {@link #add} has no effect.
     */
    public Map<Integer, KeyFilterBuilder> complete() {
        if (awaitsLog()) {
            LOG.info(
                    "Partitioned dimension filters no facts: restored partitions that are spilled={}.",
                    unread.size());
            unread.values().forEach(rows -> builders.remove(rows.dimension()));
            unread.clear();
        }
        Map<Integer, KeyFilterBuilder> complete = builders;
        builders = Map.of();
        return complete;
    }
}
