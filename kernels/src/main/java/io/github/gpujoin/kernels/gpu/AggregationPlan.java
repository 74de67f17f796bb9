// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.List;
import java.util.function.IntFunction;

/** Writes the Aggregation struct, which tells the kernel how to group and sum results. */
final class AggregationPlan {

    private final JoinSpec spec;
    private final FactSegments segments;
    private final IntFunction<BuildRowLayout> rowLayouts;
    private final GpuGroups groups;

    /**
     * @param rowLayouts the row layout of each dimension, by its index
     */
    AggregationPlan(
            JoinSpec spec,
            FactSegments segments,
            IntFunction<BuildRowLayout> rowLayouts,
            GpuGroups groups) {
        this.spec = spec;
        this.segments = segments;
        this.rowLayouts = rowLayouts;
        this.groups = groups;
    }

    /**
     * Copies the aggregation to device memory of {@code buffers} and writes its address to the
     * plan.
     */
    void write(CudaDriver driver, Buffers buffers, long plan) {
        long device = buffers.device(GroupDescriptor.AGGREGATION_BYTES);
        try (Region region = Region.allocateZeroed(GroupDescriptor.AGGREGATION_BYTES)) {
            writeAggregation(region.address());
            driver.copyToDevice(device, region.address(), region.lengthBytes());
        }
        Memory.putLong(plan + PlanDescriptor.PLAN_AGGREGATION_OFFSET, device);
    }

    private void writeAggregation(long address) {
        Aggregation aggregation = spec.aggregation();
        List<JoinColumn> columns = aggregation.groupColumns();
        List<Aggregate> aggregates = aggregation.aggregates();
        groups.write(address);
        Memory.putInt(address + GroupDescriptor.AGGREGATION_COLUMN_COUNT_OFFSET, columns.size());
        Memory.putInt(
                address + GroupDescriptor.AGGREGATION_AGGREGATE_COUNT_OFFSET, aggregates.size());
        int used = writeSources(columns, address + GroupDescriptor.AGGREGATION_COLUMNS_OFFSET);
        long at = address + GroupDescriptor.AGGREGATION_AGGREGATES_OFFSET;
        for (Aggregate aggregate : aggregates) {
            List<JoinColumn> factors = aggregate.factors();
            Memory.putInt(at + GroupDescriptor.AGGREGATE_FACTOR_COUNT_OFFSET, factors.size());
            used |= writeSources(factors, at + GroupDescriptor.AGGREGATE_FACTORS_OFFSET);
            at += GroupDescriptor.AGGREGATE_BYTES;
        }
        Memory.putInt(address + GroupDescriptor.AGGREGATION_DIMENSIONS_USED_OFFSET, used);
    }

    /** Writes the sources of columns and returns a bit mask of the dimensions used. */
    private int writeSources(List<JoinColumn> columns, long address) {
        int used = 0;
        long at = address;
        for (JoinColumn column : columns) {
            if (column.isFact()) {
                writeSource(
                        at, GroupDescriptor.FACT_SIDE, segments.columnOf(column.column()), column);
            } else {
                BuildRowLayout row = rowLayouts.apply(column.side());
                int payload =
                        spec.dimensions()
                                .get(column.side())
                                .payloadColumns()
                                .indexOf(column.column());
                writeSource(at, column.side(), row.payloadOffset(payload), column);
                used |= 1 << column.side();
            }
            at += GroupDescriptor.VALUE_SOURCE_BYTES;
        }
        return used;
    }

    private void writeSource(long address, int dimension, int at, JoinColumn column) {
        Memory.putInt(address + GroupDescriptor.VALUE_SOURCE_DIMENSION_OFFSET, dimension);
        Memory.putInt(address + GroupDescriptor.VALUE_SOURCE_AT_OFFSET, at);
        Memory.putInt(
                address + GroupDescriptor.VALUE_SOURCE_WIDTH_BYTES_OFFSET,
                column.type(spec).widthBytes());
    }
}
