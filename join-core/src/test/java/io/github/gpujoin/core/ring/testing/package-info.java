// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support of the ring tests. {@link io.github.gpujoin.core.ring.testing.StressPayload} writes
 * payloads in which a reader detects torn words.
 */
package io.github.gpujoin.core.ring.testing;
