/**
 * Options of the join in Flink's configuration. Start with {@link
 * io.github.gpujoin.flink.api.options.GpuJoinOptions}.
 */
package io.github.gpujoin.flink.api.options;
