// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import java.util.Collection;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.util.IOUtils;

/**
 * Pauses the senders of an input in the same process while the receiver is full. Otherwise they
 * would refill the channels after each barrier, and the receiver would have to write that content
 * to its state before the next barrier.
 *
 * <p>Runs in the receiver's mailbox thread.
 */
public final class InputHold implements AutoCloseable {

    private static final long NONE = -1;

    private final List<OutputHold> senders;
    private final LongSupplier announcedCheckpoint;
    private boolean isFull;
    private long askedFor = NONE;

    /**
     * @param senders result partitions that the input reads
     * @param announcedCheckpoint returns the checkpoint whose barrier the receiver awaits; -1 if
     *     there is none
     */
    public InputHold(Collection<ResultPartitionID> senders, LongSupplier announcedCheckpoint) {
        this.senders = senders.stream().distinct().map(OutputHold::of).toList();
        this.announcedCheckpoint = announcedCheckpoint;
    }

    /**
     * Pauses or resumes the senders. Cheap if nothing changes, so callers may call it for every
     * element.
     */
    public void update(boolean full) {
        if (full) {
            senders.forEach(OutputHold::relieve);
        }
        long announced = full ? announcedCheckpoint.getAsLong() : NONE;
        if (full == isFull && announced == askedFor) {
            return;
        }
        isFull = full;
        askedFor = announced;
        for (OutputHold sender : senders) {
            if (full) {
                sender.ask(this, announced);
            } else {
                sender.release(this);
            }
        }
    }

    @Override
    public void close() throws Exception {
        update(false);
        IOUtils.closeAll(senders);
    }
}
