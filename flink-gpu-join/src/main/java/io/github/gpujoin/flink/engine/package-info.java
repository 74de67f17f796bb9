// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Chooses and opens the engine of a subtask, shares tables between the subtasks of a process, and
 * falls back to the CPU engine if a GPU fails. Tables are charged to the slots' managed memory.
 * Start with {@link io.github.gpujoin.flink.engine.EngineOpener}.
 */
package io.github.gpujoin.flink.engine;
