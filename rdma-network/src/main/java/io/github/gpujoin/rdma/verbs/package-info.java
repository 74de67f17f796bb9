// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A thin binding of RDMA verbs: devices, registered memory, queue pairs. It does not know chunks or
 * sessions. Start with {@link io.github.gpujoin.rdma.verbs.Verbs}; only {@code verbs.disni} uses
 * DiSNI, in a class loader of its own ({@link io.github.gpujoin.rdma.verbs.DisniClassLoader}).
 */
package io.github.gpujoin.rdma.verbs;
