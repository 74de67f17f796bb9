// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * TPC-H queries over changes: tables that are inserted, updated and deleted from while a query
 * joins them. Start with {@link io.github.gpujoin.benchmarks.tpch.TpchStreamQuery}.
 */
package io.github.gpujoin.benchmarks.tpch;
