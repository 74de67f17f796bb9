// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpujoin::bench {

// Joins random tables on the device and compares the rows and groups of each result with those of a
// set on the host. Prints a line for each case; returns whether all are correct.
bool checkSemiJoins();

}  // namespace gpujoin::bench
