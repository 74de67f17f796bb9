// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Bytes of chunks with plain and with encoded columns, and the rate of the CPU engine that receives
 * either. Answers of both are compared.
 */
package io.github.gpujoin.benchmarks.encoding;
