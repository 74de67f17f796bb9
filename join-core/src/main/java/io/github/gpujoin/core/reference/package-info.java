// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A join engine and a bulk join of hash maps and loops. The tests of all other implementations
 * compare them with {@link io.github.gpujoin.core.reference.ReferenceJoinEngine} and {@link
 * io.github.gpujoin.core.reference.ReferenceBulkJoin}.
 */
package io.github.gpujoin.core.reference;
