// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import io.github.gpujoin.rdma.verbs.VerbsListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The accepting side. One event channel receives the events of all its queue pairs. */
final class DisniListener implements VerbsListener {

    private static final int BACKLOG = 16;

    private final Teardown teardown = new Teardown();
    private final Map<RdmaCmId, DisniQueuePair> answered = new HashMap<>();
    private final Map<RdmaCmId, DisniQueuePair> established = new HashMap<>();
    private final IbvPd protectionDomain;
    private final int queueDepth;
    private final CmEvents events;
    private final InetSocketAddress address;

    DisniListener(IbvPd protectionDomain, InetSocketAddress local, int queueDepth)
            throws IOException {
        this.protectionDomain = protectionDomain;
        this.queueDepth = queueDepth;
        try {
            events = new CmEvents();
            teardown.add(events::close);
            RdmaCmId id = events.createId();
            teardown.add(() -> Teardown.check("rdma_destroy_id", id.destroyId()));
            id.bindAddr(local);
            id.listen(BACKLOG);
            address = new InetSocketAddress(local.getAddress(), portOf(id));
        } catch (IOException e) {
            throw teardown.closeAfter(
                    new VerbsException(
                            VerbsFailure.FAILED_CALL,
                            "Cannot listen for RDMA connections: address="
                                    + local
                                    + ", cause="
                                    + e.getMessage()
                                    + ". Use a free port.",
                            e));
        }
    }

    private static int portOf(RdmaCmId id) throws IOException {
        return ((InetSocketAddress) id.getSource()).getPort();
    }

    @Override
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public @Nullable QueuePair accept(Duration timeout) throws IOException {
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        RdmaCmEvent event;
        while ((event = events.next(Duration.ofNanos(Math.max(0, deadlineNs - System.nanoTime()))))
                != null) {
            DisniQueuePair pair = handle(event);
            if (pair != null) {
                return pair;
            }
        }
        return null;
    }

    /** Returns the queue pair that the event completed; null if it completed none. */
    private @Nullable DisniQueuePair handle(RdmaCmEvent event) throws IOException {
        RdmaCmId id = event.getConnIdPriv();
        switch (CmEvents.type(event)) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> answer(id);
            case RDMA_CM_EVENT_ESTABLISHED -> {
                DisniQueuePair pair = answered.remove(id);
                if (pair != null) {
                    established.values().removeIf(old -> old.state() == QueuePairState.CLOSED);
                    established.put(id, pair);
                }
                return pair;
            }
            case RDMA_CM_EVENT_DISCONNECTED,
                    RDMA_CM_EVENT_CONNECT_ERROR,
                    RDMA_CM_EVENT_UNREACHABLE,
                    RDMA_CM_EVENT_DEVICE_REMOVAL ->
                    peerLeft(id);
            default -> {
                // A connection left its time-wait state, or an address changed: nothing to do.
            }
        }
        return null;
    }

    /** An established pair is closed by its owner, any other one here. */
    private void peerLeft(RdmaCmId id) throws IOException {
        DisniQueuePair pair = established.remove(id);
        if (pair != null) {
            pair.peerLeft();
        }
        DisniQueuePair unfinished = answered.remove(id);
        if (unfinished != null) {
            unfinished.close();
        }
    }

    private void answer(RdmaCmId id) throws IOException {
        Teardown created = new Teardown();
        created.add(() -> Teardown.check("rdma_destroy_id", id.destroyId()));
        if (answered.size() == BACKLOG) {
            // Reject: peers that never finish connecting must not occupy all queue pairs.
            created.close();
            return;
        }
        try {
            DisniQueuePair pair =
                    new DisniQueuePair(id, protectionDomain, queueDepth, created, null);
            id.accept(DisniQueuePair.connectionParameters());
            answered.put(id, pair);
        } catch (IOException e) {
            throw created.closeAfter(e);
        }
    }

    @Override
    public void close() throws IOException {
        for (DisniQueuePair unfinished : answered.values()) {
            teardown.add(unfinished::close);
        }
        answered.clear();
        teardown.close();
    }
}
