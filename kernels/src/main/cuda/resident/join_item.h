#pragma once

#include <cstdint>

#include "join_plan.h"
#include "key_bits.cuh"

namespace gpujoin::resident {

/** What a block works on, in rows of the partitioned tables. */
struct JoinItem {
    std::uint32_t buildFirst;
    std::uint32_t buildRows;
    std::uint32_t probeFirst;
    std::uint32_t probeRows;

    GPUJOIN_INLINE bool empty() const { return buildRows == 0 || probeRows == 0; }

    /** Piece number `piece` of a partition; slices of the probe rows change fastest. */
    static GPUJOIN_INLINE JoinItem of(std::uint32_t buildBegin, std::uint32_t buildEnd,
                                      std::uint32_t probeBegin, std::uint32_t probeEnd,
                                      std::uint32_t tableRows, std::uint64_t piece) {
        const std::uint32_t slices = pieces(probeEnd - probeBegin, kProbeSliceRows);
        if (buildEnd == buildBegin || slices == 0) {
            return {0, 0, 0, 0};
        }
        const std::uint32_t build =
            buildBegin + static_cast<std::uint32_t>(piece / slices) * tableRows;
        const std::uint32_t probe =
            probeBegin + static_cast<std::uint32_t>(piece % slices) * kProbeSliceRows;
        return {build, smaller(buildEnd - build, tableRows), probe,
                smaller(probeEnd - probe, kProbeSliceRows)};
    }

    static GPUJOIN_INLINE std::uint64_t count(std::uint32_t buildRows, std::uint32_t probeRows,
                                              std::uint32_t tableRows) {
        return std::uint64_t{pieces(buildRows, tableRows)} * pieces(probeRows, kProbeSliceRows);
    }

  private:
    static GPUJOIN_INLINE std::uint32_t pieces(std::uint32_t rows, std::uint32_t pieceRows) {
        return (rows + pieceRows - 1) / pieceRows;
    }
    static GPUJOIN_INLINE std::uint32_t smaller(std::uint32_t a, std::uint32_t b) {
        return a < b ? a : b;
    }
};

/** The items of a join: the first of each partition, then the further ones of all partitions. */
struct JoinItems {
    std::uint32_t partitions;
    /** Number of further items of lower partitions; one entry for each partition, and all of them last. */
    std::uint64_t* furtherStarts;
    /** One word: items claimed. */
    unsigned long long* claimed;

    static JoinItems cut(RegionCutter& cutter, std::uint32_t partitions) {
        return {partitions, cutter.take<std::uint64_t>(partitions + 1),
                cutter.take<unsigned long long>(1)};
    }

    GPUJOIN_INLINE std::uint64_t count() const { return partitions + furtherStarts[partitions]; }

    /** Partition of an item, and which of the partition's pieces it is. */
    GPUJOIN_INLINE std::uint32_t locate(std::uint64_t item, std::uint64_t& piece) const {
        if (item < partitions) {
            piece = 0;
            return static_cast<std::uint32_t>(item);
        }
        const std::uint64_t further = item - partitions;
        std::uint32_t low = 0;
        std::uint32_t high = partitions;
        while (high - low > 1) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (furtherStarts[middle] <= further) {
                low = middle;
            } else {
                high = middle;
            }
        }
        piece = further - furtherStarts[low] + 1;
        return low;
    }
};

}  // namespace gpujoin::resident
