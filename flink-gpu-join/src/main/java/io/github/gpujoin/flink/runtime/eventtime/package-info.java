// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Versioned (temporal) joins: orders facts and versions of a dimension by event time before the
 * engine joins them. Start with {@link io.github.gpujoin.flink.runtime.eventtime.EventTimeOrder}.
 */
package io.github.gpujoin.flink.runtime.eventtime;
