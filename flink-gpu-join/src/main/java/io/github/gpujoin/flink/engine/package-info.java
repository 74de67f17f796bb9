// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Chooses and opens the engine of a subtask, and falls back to the CPU engine if a GPU fails.
 * Subtasks of a process share tables. Tables are charged to the slots' managed memory. Start with
 * {@link io.github.gpujoin.flink.engine.EngineOpener}.
 */
package io.github.gpujoin.flink.engine;
