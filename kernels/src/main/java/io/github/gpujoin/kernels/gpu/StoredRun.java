// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * A run in host memory or in a file.
 *
 * @param address in pinned memory; 0 if the run is in the file
 * @param position in the file
 */
record StoredRun(long address, long position, int rows) {

    boolean isInFile() {
        return address == 0;
    }
}
