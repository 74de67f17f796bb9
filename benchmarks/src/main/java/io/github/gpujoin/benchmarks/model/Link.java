// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * The share of one device in a bus, an NVLink switch or a network.
 *
 * @param bytesPerS rate in one direction
 * @param messageS fixed time of each message; messages of a device follow one another
 */
record Link(double bytesPerS, double messageS) {

    Link {
        if (!(bytesPerS > 0 && messageS >= 0)) {
            throw new IllegalArgumentException(
                    ("Link has a rate that is not positive, or a negative time: bytesPerS=%s,"
                                    + " messageS=%s. Specify both in base units.")
                            .formatted(bytesPerS, messageS));
        }
    }

    Link(double bytesPerS) {
        this(bytesPerS, 0);
    }

    double seconds(double bytes, double messages) {
        return bytes / bytesPerS + messages * messageS;
    }
}
