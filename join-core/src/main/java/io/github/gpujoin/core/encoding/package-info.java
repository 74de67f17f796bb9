// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Encoded columns: how chunks shrink on wires and in state. {@link
 * io.github.gpujoin.core.encoding.EncodedColumnDescriptor} draws the layout; {@link
 * io.github.gpujoin.core.encoding.ChunkEncoder} chooses an encoding for each column and writes it,
 * and {@link io.github.gpujoin.core.encoding.ChunkDecoder} reads chunks of every version. Facts
 * stay encoded in {@link io.github.gpujoin.core.encoding.EncodedChunk} until a batch needs their
 * values.
 */
package io.github.gpujoin.core.encoding;
