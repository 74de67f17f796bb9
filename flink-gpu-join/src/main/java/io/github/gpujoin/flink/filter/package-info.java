// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Filters that dimensions give the facts: each subtask of the join collects the keys of complete
 * dimensions, and publishes them to the packers in its process, which drop facts without a match.
 */
package io.github.gpujoin.flink.filter;
