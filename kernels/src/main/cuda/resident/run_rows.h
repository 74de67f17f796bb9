// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The size of the runs in which a bulk join stores its inputs.
#pragma once

#include <cstdint>

namespace gpujoin::resident {

// Rows of a run: whole tiles of the first pass, whatever the width of words. The same number as in
// BulkRunLayout.java.
constexpr uint64_t RUN_ROWS = 49152;

}  // namespace gpujoin::resident
