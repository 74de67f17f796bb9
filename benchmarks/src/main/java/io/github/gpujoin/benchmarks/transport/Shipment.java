// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

/**
 * What is sent: payloads of one size over a number of channels.
 *
 * @param perSecond payloads a second over all channels together; 0 for as many as go
 */
public record Shipment(int channels, int chunkBytes, int perSecond) {

    public boolean isPaced() {
        return perSecond > 0;
    }
}
