// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers for the tests of bulk joins: random data, the definition of the join, and runs whose
 * answers can be compared.
 */
package io.github.gpujoin.core.bulk.testing;
