package io.github.gpujoin.rdma.session;

import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;

import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.TransportException;

/**
 * Copies the slots of a writer's image to the reader's ring: first all of a slot but its sequence,
 * then, across a flush, the sequence. The image and the ring have the same geometry.
 */
final class SlotSender implements AutoCloseable {

    private final RingWriter image;
    private final Connection connection;
    private long sentSequence;
    private boolean bodySent;

    /** Starts after the last slot that is acknowledged. */
    SlotSender(RingWriter image, Connection connection) {
        this.image = image;
        this.connection = connection;
        this.sentSequence = image.acknowledgedSequence();
    }

    /** Sends all slots that are written, as far as the transport takes them now. */
    void send() throws TransportException {
        connection.poll();
        while (sentSequence < image.writtenSequence()) {
            long sequence = sentSequence + 1;
            long slot = image.geometry().slotOffset(sequence);
            if (!bodySent) {
                long body = slot + EPOCH_OFFSET;
                int lengthBytes = PAYLOAD_OFFSET - EPOCH_OFFSET + image.lengthBytes(sequence);
                if (!connection.write(body, body, lengthBytes)) {
                    return;
                }
                connection.flush();
                bodySent = true;
            }
            long flag = slot + SEQUENCE_OFFSET;
            if (!connection.write(flag, flag, Long.BYTES)) {
                return;
            }
            bodySent = false;
            sentSequence = sequence;
        }
    }

    long sentSequence() {
        return sentSequence;
    }

    @Override
    public void close() {
        connection.close();
    }
}
