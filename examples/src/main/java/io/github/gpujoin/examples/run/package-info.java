// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Runs jobs from a command line: options, embedded cluster, progress display and error messages.
 * Start with {@link io.github.gpujoin.examples.run.Cli}, which maps failures to exit codes, and
 * {@link io.github.gpujoin.examples.run.JobCluster}, which selects the cluster.
 */
package io.github.gpujoin.examples.run;
