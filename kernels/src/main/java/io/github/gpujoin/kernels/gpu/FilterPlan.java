// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.ValueRanges.Range;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.List;

/** Writes the filters of a Plan, which tell the kernel which facts to join. */
final class FilterPlan {

    private final List<FactFilter> filters;
    private final FactSegments segments;
    private final long filtersBytes;
    private final long rangesBytes;

    FilterPlan(List<FactFilter> filters, FactSegments segments) {
        this.filters = filters;
        this.segments = segments;
        int ranges = filters.stream().mapToInt(f -> f.values().ranges().size()).sum();
        this.filtersBytes = (long) GroupDescriptor.FILTER_BYTES * filters.size();
        this.rangesBytes = (long) GroupDescriptor.VALUE_RANGE_BYTES * ranges;
    }

    /**
     * Copies the filters to device memory of {@code buffers} and writes their addresses to the
     * plan.
     */
    void write(CudaDriver driver, Buffers buffers, long plan) {
        if (filters.isEmpty()) {
            return;
        }
        long device = buffers.device(filtersBytes + rangesBytes);
        try (Region region = Region.allocateZeroed(filtersBytes + rangesBytes)) {
            writeFilters(region.address());
            driver.copyToDevice(device, region.address(), region.lengthBytes());
        }
        Memory.putLong(plan + PlanDescriptor.PLAN_FILTERS_OFFSET, device);
        Memory.putLong(plan + PlanDescriptor.PLAN_RANGES_OFFSET, device + filtersBytes);
        Memory.putInt(plan + PlanDescriptor.PLAN_FILTER_COUNT_OFFSET, filters.size());
    }

    private void writeFilters(long address) {
        long rangeAt = address + filtersBytes;
        int firstRange = 0;
        for (int i = 0; i < filters.size(); i++) {
            FactFilter filter = filters.get(i);
            List<Range> ranges = filter.values().ranges();
            long at = address + (long) i * GroupDescriptor.FILTER_BYTES;
            Memory.putInt(
                    at + GroupDescriptor.FILTER_COLUMN_OFFSET, segments.columnOf(filter.column()));
            Memory.putInt(at + GroupDescriptor.FILTER_FIRST_RANGE_OFFSET, firstRange);
            Memory.putInt(at + GroupDescriptor.FILTER_RANGE_COUNT_OFFSET, ranges.size());
            firstRange += ranges.size();
            for (Range range : ranges) {
                Memory.putLong(rangeAt + GroupDescriptor.VALUE_RANGE_FROM_OFFSET, range.from());
                Memory.putLong(
                        rangeAt + GroupDescriptor.VALUE_RANGE_DISTANCE_OFFSET,
                        range.to() - range.from());
                rangeAt += GroupDescriptor.VALUE_RANGE_BYTES;
            }
        }
    }
}
