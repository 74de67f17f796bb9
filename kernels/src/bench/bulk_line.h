// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Output of the joins of whole tables.
#pragma once

#include <cstdint>
#include <string>

#include "result_line.h"
#include "tables.cuh"

namespace gpujoin::bench {

// A join to measure.
struct BulkCase {
    DataSpec spec;
    // Paper and figure that the sizes are from; empty if they are from none.
    std::string source;
};

inline ResultLine bulkLine(const char* algorithm, const BulkCase& measured, size_t devices,
                           int wordBits) {
    const DataSpec& spec = measured.spec;
    ResultLine line("bulk-join");
    line.with("algorithm", algorithm)
        .with("devices", uint64_t{devices})
        .with("word_bits", uint64_t(wordBits))
        .with("build_rows", spec.buildRows)
        .with("probe_rows", spec.probeRows)
        .with("copies", spec.copies)
        .with("hit_percent", uint64_t{spec.hitPercent})
        .with("zipf", spec.zipf)
        .with("keys", nameOf(spec.domain));
    if (!measured.source.empty()) {
        line.with("source", measured.source);
    }
    return line;
}

}  // namespace gpujoin::bench
