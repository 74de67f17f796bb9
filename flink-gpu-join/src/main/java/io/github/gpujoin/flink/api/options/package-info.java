// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Options of the join in Flink's configuration. Start with {@link
 * io.github.gpujoin.flink.api.options.GpuJoinOptions}.
 */
package io.github.gpujoin.flink.api.options;
