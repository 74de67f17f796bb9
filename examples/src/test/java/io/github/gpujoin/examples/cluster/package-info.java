// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** The job jar on a Flink cluster of separate processes. */
package io.github.gpujoin.examples.cluster;
