// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

/** Memory of one thread that decodes tiles, so that no tile allocates any. */
public final class TileScratch {

    final long[] values = new long[EncodedColumnDescriptor.TILE_ROWS];
    final long[] runValues = new long[EncodedColumnDescriptor.TILE_ROWS];
    final long[] runLengths = new long[EncodedColumnDescriptor.TILE_ROWS];

    /** Packed codes of a tile in native memory, with the bytes that a load may read beyond. */
    final byte[] packed =
            new byte[EncodedColumnDescriptor.TILE_ROWS * BitPacking.MAX_BITS / 8 + 2 * Long.BYTES];
}
