// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.TILE_ROWS;

/** Memory of one thread that decodes tiles, so that no tile allocates any. Values are 64-bit. */
public final class TileScratch {

    final byte[] values = new byte[Long.BYTES * TILE_ROWS];
    final byte[] runValues = new byte[Long.BYTES * TILE_ROWS];
    final byte[] runLengths = new byte[Long.BYTES * TILE_ROWS];

    /** Packed codes of a tile in native memory, with the bytes that a load may read beyond. */
    final byte[] packed = new byte[TILE_ROWS * BitPacking.MAX_BITS / 8 + 2 * Long.BYTES];
}
