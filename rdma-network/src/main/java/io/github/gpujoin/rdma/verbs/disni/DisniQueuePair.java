// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.IbvWC.IbvWcStatus;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.QueuePairState;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair with its completion queue. Work requests are created once and changed in place, so
 * that posting allocates nothing.
 */
final class DisniQueuePair implements QueuePair {

    private static final int POLL_BATCH = 16;

    private final Teardown teardown;
    private final RdmaCmId id;

    /** Event channel of this pair alone; null if the listener's channel receives its events. */
    private final @Nullable CmEvents events;

    private final int queueDepth;
    private final IbvWC[] completions;
    private final SVCPollCq poll;
    private final SVCPostSend post;
    private volatile QueuePairState state = QueuePairState.CONNECTED;
    private long posted;
    private long completed;

    /**
     * @param teardown closes the resources of the id; owned by this object, even if this throws
     * @param events null if the listener's channel receives the pair's events
     */
    DisniQueuePair(
            RdmaCmId id,
            IbvPd protectionDomain,
            int queueDepth,
            Teardown teardown,
            @Nullable CmEvents events)
            throws IOException {
        this.id = id;
        this.teardown = teardown;
        this.events = events;
        this.queueDepth = queueDepth;
        IbvCompChannel channel = id.getVerbs().createCompChannel();
        teardown.add(
                () -> Teardown.check("ibv_destroy_comp_channel", channel.destroyCompChannel()));
        IbvCQ queue = id.getVerbs().createCQ(channel, queueDepth, 0);
        teardown.add(() -> Teardown.check("ibv_destroy_cq", queue.destroyCQ()));
        IbvQP pair = id.createQP(protectionDomain, attributes(queue));
        teardown.add(() -> Teardown.check("rdma_destroy_qp", id.destroyQP()));
        completions = new IbvWC[Math.min(queueDepth, POLL_BATCH)];
        for (int i = 0; i < completions.length; i++) {
            completions[i] = new IbvWC();
        }
        poll = queue.poll(completions, completions.length);
        post = pair.postSend(List.of(request()), null);
    }

    private IbvQPInitAttr attributes(IbvCQ queue) {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(queue);
        attributes.setRecv_cq(queue);
        attributes.cap().setMax_send_wr(queueDepth);
        attributes.cap().setMax_recv_wr(1);
        return attributes;
    }

    /**
     * Sets both retry counts to the maximum, 7; for a receiver that is not ready that is infinite.
     */
    static RdmaConnParam connectionParameters() throws IOException {
        RdmaConnParam parameters = new RdmaConnParam();
        parameters.setRetry_count((byte) 7);
        parameters.setRnr_retry_count((byte) 7);
        return parameters;
    }

    private static IbvSendWR request() {
        LinkedList<IbvSge> list = new LinkedList<>();
        list.add(new IbvSge());
        IbvSendWR request = new IbvSendWR();
        request.setOpcode(IbvSendWR.IbvWrOcode.IBV_WR_RDMA_WRITE.ordinal());
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        request.setSg_list(list);
        return request;
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public int freeWriteCount() {
        return queueDepth - (int) (posted - completed);
    }

    @Override
    public long write(
            long localAddress, int localKey, long remoteAddress, int remoteKey, int lengthBytes)
            throws IOException {
        requireConnected();
        if (freeWriteCount() == 0) {
            throw new IllegalStateException("Write queue is full: queueDepth=" + queueDepth);
        }
        SVCPostSend.SendWRMod request = post.getWrMod(0);
        request.setWr_id(posted + 1);
        request.getRdmaMod().setRemote_addr(remoteAddress);
        request.getRdmaMod().setRkey(remoteKey);
        request.getSgeMod(0).setAddr(localAddress);
        request.getSgeMod(0).setLkey(localKey);
        request.getSgeMod(0).setLength(lengthBytes);
        try {
            post.execute();
        } catch (IOException e) {
            throw fail(VerbsFailure.CONNECTION_LOST, "post", e.getMessage(), e);
        }
        return ++posted;
    }

    @Override
    public long completedWriteCount() throws IOException {
        requireConnected();
        int found;
        do {
            found = poll.execute().getPolls();
            for (int i = 0; i < found; i++) {
                complete(completions[i]);
            }
        } while (found == completions.length);
        return completed;
    }

    private void complete(IbvWC completion) throws IOException {
        IbvWcStatus status = IbvWcStatus.valueOf(completion.getStatus());
        if (status == IbvWcStatus.IBV_WC_SUCCESS) {
            completed = completion.getWr_id();
            return;
        }
        boolean refused =
                status == IbvWcStatus.IBV_WC_REM_ACCESS_ERR
                        || status == IbvWcStatus.IBV_WC_REM_INV_REQ_ERR
                        || status == IbvWcStatus.IBV_WC_REM_OP_ERR;
        throw fail(
                refused ? VerbsFailure.REFUSED_ACCESS : VerbsFailure.CONNECTION_LOST,
                "write " + completion.getWr_id(),
                status + ", status=" + completion.getStatus(),
                null);
    }

    private VerbsException fail(
            VerbsFailure failure, String what, String cause, @Nullable Throwable thrown) {
        peerLeft();
        return new VerbsException(
                failure,
                "Queue pair failed: failed=%s, cause=%s, completedWriteCount=%d. Open a new connection."
                        .formatted(what, cause, completed),
                thrown);
    }

    /** Thread-safe: the listener's thread may call it. */
    synchronized void peerLeft() {
        if (state.allows(QueuePairState.FAILED)) {
            state = state.to(QueuePairState.FAILED);
        }
    }

    @Override
    public void checkPeer() throws IOException {
        if (events != null && state == QueuePairState.CONNECTED) {
            EventType event = events.nextType(Duration.ZERO);
            if (event == EventType.RDMA_CM_EVENT_DISCONNECTED
                    || event == EventType.RDMA_CM_EVENT_DEVICE_REMOVAL) {
                throw fail(VerbsFailure.CONNECTION_LOST, "connection", event.name(), null);
            }
        }
        requireConnected();
    }

    private void requireConnected() throws VerbsException {
        if (state != QueuePairState.CONNECTED) {
            throw new VerbsException(
                    VerbsFailure.CONNECTION_LOST, "Queue pair is not connected: state=" + state);
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            if (state == QueuePairState.CLOSED) {
                return;
            }
            state = state.to(QueuePairState.CLOSED);
        }
        poll.free();
        post.free();
        // Fails if the peer has disconnected before, which does no harm.
        id.disconnect();
        teardown.close();
    }
}
