// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Time to live: removes rows of changelog dimensions that have not changed for a time, and drops
 * deferred facts whose time is over.
 */
package io.github.gpujoin.flink.runtime.expiry;
