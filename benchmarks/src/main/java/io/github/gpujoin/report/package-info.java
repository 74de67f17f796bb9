// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Generates docs/performance.md and its charts from measurement files. Start with {@link
 * io.github.gpujoin.report.PerformancePage}.
 */
package io.github.gpujoin.report;
