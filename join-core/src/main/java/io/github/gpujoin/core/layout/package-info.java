// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The byte layout of chunks, and the hashes of keys. {@link
 * io.github.gpujoin.core.layout.ChunkDescriptor} draws the layout; {@link
 * io.github.gpujoin.core.layout.ChunkBuilder} writes it, {@link
 * io.github.gpujoin.core.layout.Chunk} and {@link io.github.gpujoin.core.layout.ChunkCursor} read
 * it.
 */
package io.github.gpujoin.core.layout;
