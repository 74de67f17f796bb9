// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Soak tests: runs a join for minutes, and fails if its memory, its checkpoints or their durations
 * grow. Start with {@link io.github.gpujoin.systemtests.soak.CheckpointedJoin}.
 */
package io.github.gpujoin.systemtests.soak;
