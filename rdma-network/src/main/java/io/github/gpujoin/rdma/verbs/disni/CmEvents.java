// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An event channel of the connection manager. For one thread, as channels of DiSNI are. */
final class CmEvents implements AutoCloseable {

    private static final EventType[] TYPES = EventType.values();

    private final RdmaEventChannel channel;

    CmEvents() throws IOException {
        channel = RdmaEventChannel.createEventChannel();
    }

    RdmaCmId createId() throws IOException {
        return channel.createId(RdmaCm.RDMA_PS_TCP);
    }

    /** Returns the next event, or null if none arrives in time. */
    @Nullable RdmaCmEvent next(Duration timeout) throws IOException {
        return channel.getCmEvent(Math.toIntExact(timeout.toMillis()));
    }

    /** Returns the type of the next event, or null if none arrives in time. */
    @Nullable EventType nextType(Duration timeout) throws IOException {
        RdmaCmEvent event = next(timeout);
        return event == null ? null : type(event);
    }

    static EventType type(RdmaCmEvent event) {
        return TYPES[event.getEvent()];
    }

    @Override
    public void close() throws IOException {
        Teardown.check("rdma_destroy_event_channel", channel.destroyEventChannel());
    }
}
