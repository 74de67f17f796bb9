// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Filters that dimensions give the facts: each subtask of the join collects the keys of complete
 * dimensions. {@link io.github.gpujoin.flink.filter.FilterPublisher} publishes them by reference to
 * the packers in its process, which drop facts without a match, and through {@link
 * io.github.gpujoin.flink.filter.FilterCoordinator} to packers in others. {@link
 * io.github.gpujoin.flink.filter.FilterSubscription} is the packers' end.
 */
package io.github.gpujoin.flink.filter;
