// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.metrics.TimerGauge;

/** The chunks of one ring that one subtask of the join receives. */
interface RingInput {

    /**
     * Receives the chunk of a ticket, and waits until it arrives. For the mailbox thread.
     *
     * @param access how the payload is read; a chunk with variable-width columns, a build chunk
     *     with encoded columns, and a chunk that would leave the writer too few slots, is always
     *     copied
     * @param cancelled whether the task is cancelled; polled during the wait
     * @param idle counts waits as idle time
     * @return a chunk validated like every chunk of another process, whose user is the caller
     * @throws SessionException if the session with the sender has failed
     * @throws IllegalStateException if the ticket is not for a chunk that may come next, or the
     *     chunk does not arrive in time
     */
    Chunk receive(Chunk ticket, PayloadAccess access, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException;

    /** Returns the bytes of payloads that the CPU copied out of the ring. For any thread. */
    long payloadBytesCopied();

    /**
     * Returns the number of slots for which the writer has no credit, because of this subtask. For
     * any thread.
     */
    int heldSlots();

    /** Whether the next chunk may be read in place, or nothing that this subtask can release. */
    boolean hasRoom();
}
