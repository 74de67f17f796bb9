// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Work items of the join: which part of which partition a block joins.
#pragma once

#include <cstdint>

#include "join_plan.h"
#include "key_bits.h"

namespace gpujoin::resident {

// A part of the build rows and a slice of the probe rows of one partition, as rows of the
// partitioned tables.
struct JoinItem {
    uint32_t buildFirst;
    uint32_t buildRows;
    uint32_t probeFirst;
    uint32_t probeRows;

    GPUJOIN_INLINE bool isEmpty() const { return buildRows == 0 || probeRows == 0; }

    // Returns the item with only up to `rows` probe rows, from row `first` of the item on.
    GPUJOIN_INLINE JoinItem withProbeRows(uint32_t first, uint32_t rows) const {
        uint32_t before = smaller(first, probeRows);
        return {buildFirst, buildRows, probeFirst + before, smaller(probeRows - before, rows)};
    }

    // Returns part number `part` of a partition; slices of the probe rows vary fastest.
    static GPUJOIN_INLINE JoinItem of(uint32_t buildBegin, uint32_t buildEnd, uint32_t probeBegin,
                                      uint32_t probeEnd, uint32_t tableRows, uint64_t part) {
        uint32_t slices = partCount(probeEnd - probeBegin, PROBE_SLICE_ROWS);
        if (buildEnd == buildBegin || slices == 0) {
            return {0, 0, 0, 0};
        }
        uint32_t build = buildBegin + static_cast<uint32_t>(part / slices) * tableRows;
        uint32_t probe = probeBegin + static_cast<uint32_t>(part % slices) * PROBE_SLICE_ROWS;
        return {build, smaller(buildEnd - build, tableRows), probe,
                smaller(probeEnd - probe, PROBE_SLICE_ROWS)};
    }

    static GPUJOIN_INLINE uint64_t count(uint32_t buildRows, uint32_t probeRows,
                                         uint32_t tableRows) {
        return uint64_t{partCount(buildRows, tableRows)} * partCount(probeRows, PROBE_SLICE_ROWS);
    }

  private:
    static GPUJOIN_INLINE uint32_t partCount(uint32_t rows, uint32_t partRows) {
        return (rows + partRows - 1) / partRows;
    }
    static GPUJOIN_INLINE uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
};

// Which items a kernel joins: those that are not claimed yet up to `end`, and of the probe rows of
// each only some. Results that exceed the memory are found in several calls.
struct ItemRange {
    uint64_t end;
    uint32_t firstProbeRow;
    uint32_t probeRows;

    static GPUJOIN_INLINE ItemRange all() { return {~uint64_t{0}, 0, PROBE_SLICE_ROWS}; }
};
static_assert(sizeof(ItemRange) == 16);

// The items of a join: the first item of each partition, then the extra items of all partitions.
struct JoinItems {
    uint32_t partitions;
    // Number of extra items of lower partitions, for each partition; the last entry is the number
    // of all extra items.
    uint64_t* extraStarts;
    // The number of claimed items.
    unsigned long long* claimed;

    static GPUJOIN_INLINE JoinItems allocate(RegionAllocator& regions, uint32_t partitions) {
        return {partitions, regions.allocate<uint64_t>(partitions + 1),
                regions.allocate<unsigned long long>(1)};
    }

    // Returns the address of the number of extra items.
    GPUJOIN_INLINE const uint64_t* extraCount() const { return extraStarts + partitions; }

    GPUJOIN_INLINE uint64_t count() const { return partitions + extraStarts[partitions]; }

    // Returns the partition of an item, and in `part` which of the partition's parts it is.
    GPUJOIN_INLINE uint32_t locate(uint64_t item, uint64_t& part) const {
        if (item < partitions) {
            part = 0;
            return static_cast<uint32_t>(item);
        }
        uint64_t extra = item - partitions;
        uint32_t low = 0;
        uint32_t high = partitions;
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (extraStarts[middle] <= extra) {
                low = middle;
            } else {
                high = middle;
            }
        }
        part = extra - extraStarts[low] + 1;
        return low;
    }
};

}  // namespace gpujoin::resident
