// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Moves chunks from packers to joins: by reference inside a process ({@code local}), through rings
 * ({@code ring}), or through Flink's own channels. This package contains what the three share:
 * {@link io.github.gpujoin.flink.exchange.LoadMark load marks}, which report the progress of
 * dimensions, row counts, and a coordinator to which others add requests about attempts of
 * subtasks.
 */
package io.github.gpujoin.flink.exchange;
