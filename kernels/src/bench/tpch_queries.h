// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// TPC-H queries 3 and 5 in the memory of one device.
#pragma once

#include <cstdint>

namespace gpujoin::bench {

// Ranks of query 3 have 28 bits for an order.
constexpr uint64_t MAX_SALES_SCALE = 178;

// Each runs a query over generated tables, prints a ResultLine and returns whether the answer is
// right. `readGBs` is how fast the device reads columns.
bool benchQuery3(uint64_t scale, bool isClustered, double readGBs);
bool benchQuery5(uint64_t scale, bool isClustered, double readGBs);

}  // namespace gpujoin::bench
