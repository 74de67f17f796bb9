// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Aggregates results by group in device memory: kernels read the columns of a batch, and add its
 * rows to a table of groups, which is passed on when it is full.
 */
final class BulkGroupWriter implements BulkResultWriter {

    /** The table of groups has room for a new group of each row. */
    private static final int BATCH_ROWS = 1 << 20;

    private static final int THREADS = 256;

    /** Blocks for each multiprocessor; each sums up in shared memory what it reads. */
    private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

    private final Aggregation aggregation;
    private final BulkDevice device;
    private final Map<JoinSide, BulkRunLayout> layouts;
    private final List<JoinColumn> columns;
    private final GpuGroups groups;
    private final long values;
    private final long descriptor;

    /** Upper bound of the groups in the table, which the kernels of the batches may be writing. */
    private long mostGroups;

    BulkGroupWriter(
            Aggregation aggregation,
            BulkDevice device,
            BulkMemory memory,
            Map<JoinSide, BulkRunLayout> layouts) {
        this.aggregation = aggregation;
        this.device = device;
        this.layouts = Map.copyOf(layouts);
        this.columns = aggregation.columns().distinct().toList();
        this.groups =
                memory.whileStopped(
                        buffers ->
                                new GpuGroups(aggregation, device.driver(), buffers, BATCH_ROWS));
        this.values =
                columns.isEmpty()
                        ? 0
                        : memory.allocate((long) Long.BYTES * BATCH_ROWS * columns.size());
        this.descriptor = memory.allocate(GroupDescriptor.AGGREGATION_BYTES);
        try (Region region = Region.allocateZeroed(GroupDescriptor.AGGREGATION_BYTES)) {
            write(region.address());
            device.copyToDevice(descriptor, region);
        }
    }

    /** Writes the Aggregation struct, whose sources are the columns of a batch. */
    private void write(long address) {
        List<JoinColumn> groupColumns = aggregation.groupColumns();
        List<Aggregate> aggregates = aggregation.aggregates();
        groups.write(address);
        Memory.putInt(
                address + GroupDescriptor.AGGREGATION_COLUMN_COUNT_OFFSET, groupColumns.size());
        Memory.putInt(
                address + GroupDescriptor.AGGREGATION_AGGREGATE_COUNT_OFFSET, aggregates.size());
        writeSources(groupColumns, address + GroupDescriptor.AGGREGATION_COLUMNS_OFFSET);
        long at = address + GroupDescriptor.AGGREGATION_AGGREGATES_OFFSET;
        for (Aggregate aggregate : aggregates) {
            List<JoinColumn> factors = aggregate.factors();
            Memory.putInt(at + GroupDescriptor.AGGREGATE_FACTOR_COUNT_OFFSET, factors.size());
            writeSources(factors, at + GroupDescriptor.AGGREGATE_FACTORS_OFFSET);
            at += GroupDescriptor.AGGREGATE_BYTES;
        }
    }

    private void writeSources(List<JoinColumn> sources, long address) {
        long at = address;
        for (JoinColumn source : sources) {
            Memory.putInt(at + GroupDescriptor.VALUE_SOURCE_AT_OFFSET, columns.indexOf(source));
            at += GroupDescriptor.VALUE_SOURCE_BYTES;
        }
    }

    @Override
    public long batchRows() {
        return BATCH_ROWS;
    }

    @Override
    public boolean needsRows() {
        return true;
    }

    @Override
    public void write(BulkBatch batch, Consumer<BulkResult> results) {
        int most = BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors();
        int blocks = (int) Math.min(most, (batch.count() + THREADS - 1) / THREADS);
        device.launch(
                () -> {
                    long target = values;
                    for (JoinColumn column : columns) {
                        JoinSide side = JoinSide.values()[column.side()];
                        BulkColumns.widen(
                                device.driver(),
                                layouts.get(side).source(column.column()),
                                batch.rows(side),
                                batch.count(),
                                target);
                        target += (long) Long.BYTES * BATCH_ROWS;
                    }
                    device.driver()
                            .launchWithSharedMemory(
                                    "gpujoin_bulk_aggregate",
                                    blocks,
                                    THREADS,
                                    0,
                                    new long[] {descriptor},
                                    new long[] {values, BATCH_ROWS},
                                    new long[] {batch.count()});
                });
        mostGroups = aggregation.groupColumns().isEmpty() ? 1 : mostGroups + batch.count();
        if (mostGroups >= aggregation.maxGroups()) {
            mostGroups = device.whileStopped(groups::rowCount);
            if (mostGroups >= aggregation.maxGroups()) {
                finish(results);
            }
        }
    }

    @Override
    public void finish(Consumer<BulkResult> results) {
        results.accept(new BulkResult.Groups(device.whileStopped(groups::drain)));
        mostGroups = 0;
    }
}
