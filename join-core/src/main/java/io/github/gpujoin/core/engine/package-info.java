// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The interface of all join engines and the description of a join. Start with {@link
 * io.github.gpujoin.core.engine.JoinEngine}; {@link io.github.gpujoin.core.engine.JoinSpec}
 * describes what it joins, {@link io.github.gpujoin.core.engine.ResultBatch} what it returns.
 */
package io.github.gpujoin.core.engine;
