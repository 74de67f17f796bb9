package io.github.gpujoin.benchmarks.transport;

import java.util.Locale;

/**
 * What is sent: payloads of one size over a number of channels.
 *
 * @param perSecond payloads a second over all channels together; 0 for as many as go
 */
public record Shipment(int channels, int chunkBytes, int perSecond) {

    boolean isPaced() {
        return perSecond > 0;
    }

    String size() {
        return chunkBytes % (1 << 20) == 0
                ? (chunkBytes >> 20) + "MiB"
                : String.format(Locale.ROOT, "%dKiB", chunkBytes >> 10);
    }
}
