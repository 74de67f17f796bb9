// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * Rates of a GPU's memory.
 *
 * @param copyBytesPerS bytes read plus bytes written by a kernel that copies
 * @param gathersPerS random reads of 16 bytes or less
 * @param atomicsPerS random exchanges
 */
record Device(double copyBytesPerS, double gathersPerS, double atomicsPerS) {

    Device {
        if (!(copyBytesPerS > 0 && gathersPerS > 0 && atomicsPerS > 0)) {
            throw new IllegalArgumentException(
                    "Device has a rate that is not positive: copyBytesPerS=%s, gathersPerS=%s,"
                                    .formatted(copyBytesPerS, gathersPerS)
                            + " atomicsPerS=%s. Measure or scale each rate."
                                    .formatted(atomicsPerS));
        }
    }

    /** Returns the time of a kernel that streams so many bytes, reads and writes together. */
    double streamS(double bytes) {
        return bytes / copyBytesPerS;
    }

    double gatherS(double gathers) {
        return gathers / gathersPerS;
    }

    double atomicS(double atomics) {
        return atomics / atomicsPerS;
    }
}
