// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Accepts connections. For one thread. */
public interface VerbsListener extends AutoCloseable {

    InetSocketAddress address();

    /**
     * Waits for a peer and accepts it. Also processes events of peers that left: their queue pairs
     * change to {@link QueuePairState#FAILED}.
     *
     * @return the connection, or null if none was established in time
     */
    @Nullable QueuePair accept(Duration timeout) throws IOException;

    @Override
    void close() throws IOException;
}
