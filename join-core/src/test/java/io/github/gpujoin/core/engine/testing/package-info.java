// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support for engines, also of other modules: generated join specs and rows, and {@link
 * io.github.gpujoin.core.engine.testing.NestedLoopJoin}, the oracle that compares every row with
 * every other.
 */
package io.github.gpujoin.core.engine.testing;
