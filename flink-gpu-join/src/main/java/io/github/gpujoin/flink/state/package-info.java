// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The join's managed state: build logs, deferred and in-flight probes, and metadata that a restore
 * checks and migrates. Start with {@link io.github.gpujoin.flink.state.BuildLog}, {@link
 * io.github.gpujoin.flink.state.ProbeLog} and {@link io.github.gpujoin.flink.state.JoinMetadata}.
 */
package io.github.gpujoin.flink.state;
