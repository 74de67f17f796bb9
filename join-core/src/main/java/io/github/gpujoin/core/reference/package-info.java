// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A simple join engine, the oracle in the tests of all engines. Start with {@link
 * io.github.gpujoin.core.reference.ReferenceJoinEngine}.
 */
package io.github.gpujoin.core.reference;
