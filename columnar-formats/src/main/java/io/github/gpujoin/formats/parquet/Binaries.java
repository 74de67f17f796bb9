// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.ChunkBuilder;

/** Byte sequences of a batch, each a part of some array. Not thread-safe. */
final class Binaries {

    private final byte[][] arrays;
    private final int[] starts;
    private final int[] lengths;

    Binaries(int capacity) {
        this.arrays = new byte[capacity][];
        this.starts = new int[capacity];
        this.lengths = new int[capacity];
    }

    int capacity() {
        return arrays.length;
    }

    void set(int number, byte[] array, int start, int length) {
        arrays[number] = array;
        starts[number] = start;
        lengths[number] = length;
    }

    void set(int number, Binaries source, int sourceNumber) {
        set(
                number,
                source.arrays[sourceNumber],
                source.starts[sourceNumber],
                source.lengths[sourceNumber]);
    }

    void appendTo(ChunkBuilder builder, int number) {
        builder.addBytes(arrays[number], starts[number], lengths[number]);
    }

    byte[] array(int number) {
        return arrays[number];
    }

    int start(int number) {
        return starts[number];
    }

    int length(int number) {
        return lengths[number];
    }
}
