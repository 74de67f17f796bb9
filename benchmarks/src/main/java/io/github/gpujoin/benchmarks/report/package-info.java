/** Makes docs/performance.md and its pictures of the committed results. */
package io.github.gpujoin.benchmarks.report;
