// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Joins of records as users have them: POJOs with text keys and many fields, and tables. The cost
 * of a job is the processor time of its process for each fact. Start with {@link
 * io.github.gpujoin.benchmarks.records.RecordJobs}.
 */
package io.github.gpujoin.benchmarks.records;
