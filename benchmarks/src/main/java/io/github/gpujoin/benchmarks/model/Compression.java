// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * Compression of what crosses the network.
 *
 * @param ratio plain bytes by compressed bytes
 * @param compressBytesPerS plain bytes that a device compresses
 * @param decompressBytesPerS plain bytes that a device decompresses
 */
record Compression(double ratio, double compressBytesPerS, double decompressBytesPerS) {

    Compression {
        if (!(ratio > 0 && compressBytesPerS > 0 && decompressBytesPerS > 0)) {
            throw new IllegalArgumentException(
                    ("Compression has a figure that is not positive: ratio=%s, compressBytesPerS=%s,"
                                    + " decompressBytesPerS=%s. Use a ratio of 1 for plain bytes.")
                            .formatted(ratio, compressBytesPerS, decompressBytesPerS));
        }
    }
}
