package io.github.gpujoin.flink.exchange.backpressure;

import java.util.Collection;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.util.IOUtils;

/**
 * Pauses the senders of an input that run in the same process, while the receiver is full. Without
 * this, they would fill the channels again after each barrier, and each barrier would bring all of
 * that into the receiver's state. For the task's thread.
 */
public final class InputHold implements AutoCloseable {

    private static final long NONE = -1;

    private final List<OutputHold> senders;
    private final LongSupplier announcedCheckpoint;
    private boolean isFull;
    private long askedFor = NONE;

    /**
     * @param senders partitions that the input reads
     * @param announcedCheckpoint whose barrier the receiver awaits; -1 if there is none
     */
    public InputHold(Collection<ResultPartitionID> senders, LongSupplier announcedCheckpoint) {
        this.senders = senders.stream().distinct().map(OutputHold::of).toList();
        this.announcedCheckpoint = announcedCheckpoint;
    }

    /** Tells the senders whether to pause; often called. */
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
