// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Verbs over DiSNI. Only {@link io.github.gpujoin.rdma.verbs.DisniClassLoader} defines these
 * classes; other packages use them through the interfaces of {@code verbs}. Start with {@code
 * DisniDevice}.
 */
package io.github.gpujoin.rdma.verbs.disni;
