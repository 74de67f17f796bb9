// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The connecting side: creates a queue pair on an event channel of its own. */
final class DisniConnector {

    /**
     * For an address or a route; shorter than the timeout, so that the kernel reports the cause.
     */
    private static final int RESOLVE_TIMEOUT_MS = 2000;

    private final CmEvents events;
    private final InetSocketAddress peer;
    private final long deadlineNs;

    private DisniConnector(CmEvents events, InetSocketAddress peer, Duration timeout) {
        this.events = events;
        this.peer = peer;
        this.deadlineNs = System.nanoTime() + timeout.toNanos();
    }

    static QueuePair connect(
            IbvPd protectionDomain,
            InetAddress localAddress,
            InetSocketAddress peer,
            int queueDepth,
            Duration timeout)
            throws IOException {
        Teardown teardown = new Teardown();
        try {
            CmEvents events = new CmEvents();
            teardown.add(events::close);
            RdmaCmId id = events.createId();
            teardown.add(() -> Teardown.check("rdma_destroy_id", id.destroyId()));
            new DisniConnector(events, peer, timeout).route(id, localAddress);
            DisniQueuePair pair =
                    new DisniQueuePair(id, protectionDomain, queueDepth, teardown, events);
            id.connect(DisniQueuePair.connectionParameters());
            new DisniConnector(events, peer, timeout).await(EventType.RDMA_CM_EVENT_ESTABLISHED);
            return pair;
        } catch (IOException e) {
            throw teardown.closeAfter(e);
        }
    }

    private void route(RdmaCmId id, InetAddress localAddress) throws IOException {
        try {
            id.bindAddr(new InetSocketAddress(localAddress, 0));
            id.resolveAddr(null, peer, RESOLVE_TIMEOUT_MS);
        } catch (IOException e) {
            throw noRoute(e.getMessage(), e);
        }
        await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
        id.resolveRoute(RESOLVE_TIMEOUT_MS);
        await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
    }

    private void await(EventType wanted) throws IOException {
        EventType event = events.nextType(Duration.ofMillis(leftMs()));
        if (event == wanted) {
            return;
        }
        String cause =
                event == null
                        ? "no answer in time"
                        : event.name().replace("RDMA_CM_EVENT_", "").toLowerCase(Locale.ROOT);
        if (wanted != EventType.RDMA_CM_EVENT_ESTABLISHED) {
            throw noRoute(cause, null);
        }
        throw new VerbsException(
                VerbsFailure.NO_CONNECTION,
                "Peer did not accept the RDMA connection: peer=%s:%d, cause=%s. Check that it is running."
                        .formatted(peer.getAddress().getHostAddress(), peer.getPort(), cause));
    }

    private VerbsException noRoute(String cause, @Nullable Throwable thrown) {
        String address = peer.getAddress().getHostAddress();
        return new VerbsException(
                VerbsFailure.NO_ROUTE,
                "No RDMA device of this host reaches the peer: peer=%s, cause=%s. Check with: ip route get %s, rdma link"
                        .formatted(address, cause, address),
                thrown);
    }

    private int leftMs() {
        return (int) Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000);
    }
}
