// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support of all modules, in the module's test jar. {@link
 * io.github.gpujoin.core.testing.RegionLeakExtension} fails tests that leave native memory open.
 */
package io.github.gpujoin.core.testing;
