// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers for the tests of symmetric joins: random changelogs, the definition of the join, and
 * results that can be compared.
 */
package io.github.gpujoin.core.symmetric.testing;
