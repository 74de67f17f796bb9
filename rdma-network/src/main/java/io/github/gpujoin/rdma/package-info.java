// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Writes chunks into rings of other hosts with one-sided RDMA. */
package io.github.gpujoin.rdma;
