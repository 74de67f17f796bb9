/** The one place where sources, packers, operator and engine are wired together. */
package io.github.gpujoin.flink.pipeline;
