// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

/**
 * Memory and progress of an engine.
 *
 * @param buildRows submitted build rows of all tables, changes included
 * @param buildBytes bytes of those rows: fixed-width columns and variable-width values
 * @param tableBytes memory of the tables; for an engine on a device, memory of the device only
 * @param probeRows facts whose results were all polled
 * @param resultRows polled result rows, or groups of an aggregating engine
 */
public record EngineStats(
        long buildRows, long buildBytes, long tableBytes, long probeRows, long resultRows) {}
