/** The two-input operator: life cycle, phases, watermarks. */
package io.github.gpujoin.flink.operator;
