// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.core.thread.UninterruptibleWait;
import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.VerbsListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts the queue pairs that write one target, and closes those whose peers left. Writes bypass
 * it: the devices exchange them.
 */
final class DisniAcceptor implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DisniAcceptor.class);
    private static final Duration WAIT = Duration.ofMillis(100);

    /**
     * A peer has one queue pair and may reconnect before the end of the last one is noticed. More
     * are rejected.
     */
    private static final int MAX_PAIRS = 4;

    /** A single failure may be the peer's fault; so many in a row are the device's. */
    private static final int MAX_FAILURES = 16;

    private final VerbsListener listener;
    private final InetSocketAddress address;
    private final List<QueuePair> pairs = new ArrayList<>();
    private final Thread thread;
    private volatile boolean closed;

    DisniAcceptor(VerbsListener listener) {
        this.listener = listener;
        this.address = listener.address();
        this.thread = new Thread(this::run, "disni-acceptor-" + address.getPort());
        thread.setDaemon(true);
        thread.start();
    }

    InetSocketAddress address() {
        return address;
    }

    private void run() {
        try {
            int failures = 0;
            while (!closed && failures < MAX_FAILURES) {
                failures = accept() ? 0 : failures + 1;
                endFailed();
            }
            if (!closed) {
                LOG.warn(
                        "A listener accepts no more after {} consecutive failures: listener={}",
                        MAX_FAILURES,
                        address);
            }
        } finally {
            for (QueuePair pair : pairs) {
                OwnedResources.closeQuietly(pair, "queue pair");
            }
            OwnedResources.closeQuietly(listener, "listener");
        }
    }

    /**
     * Waits for one queue pair.
     *
     * @return false if the listener failed
     */
    private boolean accept() {
        try {
            QueuePair accepted = listener.accept(WAIT);
            if (accepted != null) {
                admit(accepted);
            }
            return true;
        } catch (IOException | RuntimeException e) {
            LOG.warn("Accepting a queue pair failed: listener={}", address, e);
            return false;
        }
    }

    private void admit(QueuePair accepted) {
        if (pairs.size() < MAX_PAIRS) {
            pairs.add(accepted);
        } else {
            LOG.warn(
                    "Too many queue pairs for one target: maximum={}, listener={}",
                    MAX_PAIRS,
                    address);
            OwnedResources.closeQuietly(accepted, "queue pair");
        }
    }

    private void endFailed() {
        for (Iterator<QueuePair> each = pairs.iterator(); each.hasNext(); ) {
            QueuePair pair = each.next();
            if (pair.state() == QueuePairState.FAILED) {
                OwnedResources.closeQuietly(pair, "queue pair");
                each.remove();
            }
        }
    }

    /** Ends the thread, which closes all queue pairs; does not wait for it. */
    @Override
    public void close() {
        closed = true;
    }

    boolean hasEnded() {
        return !thread.isAlive();
    }

    void awaitEnd() {
        UninterruptibleWait.join(thread);
    }
}
