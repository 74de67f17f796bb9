// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Chooses ports. */
final class Ports {

    private static final int FIRST = 20_000;
    private static final int LAST = 30_000;

    private Ports() {}

    /**
     * Returns a free port below the kernel's ephemeral ones. While a server restarts, a client that
     * tries an ephemeral port of this host again and again would at last connect to itself.
     */
    static int free() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            try (ServerSocket socket =
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // Taken: try another.
            }
        }
    }
}
