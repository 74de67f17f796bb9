// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Running jobs from a command line: the cluster, progress, and what went wrong. */
package io.github.gpujoin.examples.run;
