// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support for chunks and hashes, also of other modules. {@link
 * io.github.gpujoin.core.layout.testing.CraftedKeys} computes keys whose hashes collide.
 */
package io.github.gpujoin.core.layout.testing;
