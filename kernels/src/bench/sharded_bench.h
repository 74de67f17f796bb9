// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks and measures the sharded sort-merge join.
#pragma once

#include "bulk_line.h"

namespace gpujoin::bench {

// Joins tables of many shapes over `devices` devices, and returns how many results are wrong.
int checkSharded(int devices);

// Joins tables over `devices` devices, which all must exist, and prints a ResultLine. Returns whether
// all results are correct.
template <typename Word>
bool benchSharded(const BulkCase& measured, int devices);

}  // namespace gpujoin::bench
