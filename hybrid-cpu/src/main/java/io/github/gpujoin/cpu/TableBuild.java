// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import org.jspecify.annotations.Nullable;

/**
 * Builds the table of one dimension, of the kind that its keys allow, and empties the staging.
 *
 * <pre>
 *   DirectTableBuilder -- holes, repeated keys --> SlotPartitions, then
 *   UniqueRankedBuilder -- hashed slots, repeated keys --> RankedTableBuilder
 * </pre>
 */
final class TableBuild implements AutoCloseable {

    private final BuildStaging staging;
    private final boolean keepsRepeats;
    private final SlotFunction slotFunction;
    private TableBuilder builder;

    /** Null until a direct table proves impossible. */
    private @Nullable SlotPartitions partitions;

    private boolean isDivided;

    /**
     * @param keepsRepeats whether rows of a key after the first one matter
     */
    TableBuild(BuildStaging staging, boolean keepsRepeats) {
        this.staging = staging;
        this.keepsRepeats = keepsRepeats;
        this.slotFunction =
                SlotFunction.of(
                        staging.rowCount(),
                        staging.layout().rowBytes(),
                        staging.minKey(),
                        staging.maxKey());
        this.builder = new DirectTableBuilder(staging, slotFunction, keepsRepeats);
    }

    /**
     * Continues the build.
     *
     * @param maxRows approximate limit of the rows of this step
     * @return the complete table, which the caller closes; null before
     */
    @Nullable CpuJoinTable step(long maxRows) {
        if (partitions != null && !isDivided) {
            isDivided = partitions.step(maxRows);
            return null;
        }
        if (!builder.step(maxRows)) {
            return null;
        }
        CpuJoinTable table = builder.table();
        if (table == null) {
            nextBuilder();
        }
        return table;
    }

    private void nextBuilder() {
        builder.close();
        if (partitions == null) {
            int bucketShift = RankedTableBuilder.bucketShift(slotFunction, staging.rowCount());
            partitions = new SlotPartitions(staging, slotFunction, bucketShift);
            builder = new UniqueRankedBuilder(staging, partitions, slotFunction, keepsRepeats);
        } else {
            builder = new RankedTableBuilder(staging, partitions, slotFunction, keepsRepeats);
        }
    }

    @Override
    public void close() {
        builder.close();
        if (partitions != null) {
            partitions.close();
        }
    }
}
