/**
 * Generates docs/performance.md and its charts from measurement files. Start with {@link
 * io.github.gpujoin.report.PerformancePage}.
 */
package io.github.gpujoin.report;
