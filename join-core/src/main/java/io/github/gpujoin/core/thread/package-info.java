// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Waits for threads. Start with {@link io.github.gpujoin.core.thread.UninterruptibleWait}. */
package io.github.gpujoin.core.thread;
