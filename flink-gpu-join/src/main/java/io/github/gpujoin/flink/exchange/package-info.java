/**
 * Moves chunks from packers to joins: by reference inside a process ({@code local}), through rings
 * ({@code ring}), or through Flink's own channels. This package holds what all of them share: marks
 * of the progress of dimensions, and row counts.
 */
package io.github.gpujoin.flink.exchange;
