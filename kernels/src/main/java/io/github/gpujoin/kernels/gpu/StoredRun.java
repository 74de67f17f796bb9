// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * A run in host memory or in a file.
 *
 * @param address in pinned memory; 0 if the run is in the file
 * @param position in the file
 * @param isAfterAnother whether the memory before belongs to the run that was stored before in the
 *     same partition, and to the same allocation
 */
record StoredRun(long address, long position, int rows, boolean isAfterAnother) {

    static StoredRun inMemory(long address, int rows) {
        return new StoredRun(address, 0, rows, false);
    }

    static StoredRun inFile(long position, int rows) {
        return new StoredRun(0, position, rows, false);
    }

    boolean isInFile() {
        return address == 0;
    }
}
