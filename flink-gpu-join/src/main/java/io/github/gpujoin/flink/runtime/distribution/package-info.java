// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Decides whether a dimension of unknown size is replicated or stays partitioned. Loggers report
 * measured sizes to the operator's coordinator, which decides once for each run; the decision is
 * part of its checkpoint.
 */
package io.github.gpujoin.flink.runtime.distribution;
