// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Off-heap memory: who owns it, how much may be used, and raw access to it. Start with {@link
 * io.github.gpujoin.core.region.Region}; {@link io.github.gpujoin.core.region.MemoryAccount} limits
 * it and {@link io.github.gpujoin.core.region.Memory} reads and writes it.
 */
package io.github.gpujoin.core.region;
