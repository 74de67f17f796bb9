// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Loads native libraries of third parties once for each class loader. Start with {@link
 * io.github.gpujoin.core.natives.NativeClassLoader}.
 */
package io.github.gpujoin.core.natives;
