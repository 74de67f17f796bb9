// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support for the hybrid engine: a partitioned star with a log of its build rows, and devices
 * and allocators that fail or have little memory.
 */
package io.github.gpujoin.hybrid.testing;
