// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks and measures the sharded sort-merge join.
#pragma once

#include "tables.cuh"

namespace gpujoin::bench {

// Joins tables of many shapes over `devices` devices, and returns how many results are wrong.
int checkSharded(int devices);

// Joins 2^log2Max x 2^log2Max rows over `devices` devices and prints a ResultLine for each width.
// Returns whether all results are correct.
bool benchSharded(int devices, int log2Max);

}  // namespace gpujoin::bench
