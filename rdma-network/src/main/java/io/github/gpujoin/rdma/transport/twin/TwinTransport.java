package io.github.gpujoin.rdma.transport.twin;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.HostMemory;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.LongSupplier;

/**
 * Writes between two ends in one process, with seeded faults. Both ends use one instance.
 *
 * <p>A write is copied when it is started and lands when its time has come and somebody calls
 * {@link #deliver} (as every write and poll does). One that lands after its target was closed is
 * dropped, as a network card drops what comes with a revoked key. Thread-safe.
 */
public final class TwinTransport implements OneSidedTransport {

    private static final int MAX_UNDER_WAY = 64;

    private final Random random;
    private final LongSupplier clockNs;
    private final Map<Long, TwinTarget> targets = new HashMap<>();
    private final GivenOut given = new GivenOut("twin");
    private final PriorityQueue<Landing> underWay = new PriorityQueue<>();
    private TwinFaults faults;
    private long byteNs;
    private long nextKey = 1;
    private long nextOrder;

    /**
     * @param clockNs may be virtual; two runs with the same seed, clock and calls are the same
     */
    public TwinTransport(TwinFaults faults, long seed, LongSupplier clockNs) {
        this.faults = faults;
        this.random = new Random(seed);
        this.clockNs = clockNs;
    }

    @Override
    public String name() {
        return "twin";
    }

    /** Faults of the writes from now on. */
    public synchronized void setFaults(TwinFaults faults) {
        this.faults = faults;
    }

    /**
     * How slow the network is from now on.
     *
     * @param byteNs time that a connection takes for each byte; 0 at first
     */
    public synchronized void setByteNs(long byteNs) {
        this.byteNs = byteNs;
    }

    @Override
    public synchronized Target registerTarget(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        TwinTarget target = given.add(new TwinTarget(lengthBytes, nextKey++));
        targets.put(target.key, target);
        return target;
    }

    @Override
    public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        return given.add(new HostMemory(Region.allocateZeroed(lengthBytes)));
    }

    @Override
    public synchronized Connection connect(byte[] descriptor, RegisteredMemory source)
            throws TransportException {
        if (descriptor.length != Long.BYTES) {
            throw new TransportException(
                    "a twin's descriptor is its key: lengthBytes=" + descriptor.length);
        }
        TwinTarget target = targets.get(ByteBuffer.wrap(descriptor).getLong());
        if (target == null) {
            throw new TransportException("the target was closed");
        }
        return new TwinConnection(source, target);
    }

    /** Lets all land whose time has come. */
    public synchronized void deliver() {
        long now = clockNs.getAsLong();
        while (!underWay.isEmpty() && underWay.peek().dueNs <= now) {
            underWay.remove().land();
        }
    }

    @Override
    public synchronized void close() {
        given.close();
        underWay.clear();
    }

    private final class TwinTarget implements Target, GivenOut.Item {

        private final Region region;
        private final long key;
        private volatile boolean closed;

        TwinTarget(long lengthBytes, long key) {
            this.region = Region.allocateZeroed(lengthBytes);
            this.key = key;
        }

        @Override
        public long address() {
            return region.address();
        }

        @Override
        public long lengthBytes() {
            return region.lengthBytes();
        }

        @Override
        public byte[] descriptor() {
            return ByteBuffer.allocate(Long.BYTES).putLong(key).array();
        }

        @Override
        public boolean isClosed() {
            return closed;
        }

        @Override
        public void close() {
            synchronized (TwinTransport.this) {
                closed = true;
                targets.remove(key);
                region.close();
            }
        }
    }

    private record Landing(
            long dueNs, long order, TwinConnection by, TwinTarget target, long offset, byte[] bytes)
            implements Comparable<Landing> {

        @Override
        public int compareTo(Landing other) {
            return dueNs != other.dueNs
                    ? Long.compare(dueNs, other.dueNs)
                    : Long.compare(order, other.order);
        }

        void land() {
            by.underWayCount--;
            if (!target.closed) {
                long address = target.address() + offset;
                Memory.copy(bytes, Memory.BYTES, null, address, bytes.length);
            }
        }
    }

    private final class TwinConnection implements Connection {

        private final RegisteredMemory source;
        private final TwinTarget target;
        private long lastDueNs;
        private int underWayCount;
        private boolean cut;
        private boolean closed;

        TwinConnection(RegisteredMemory source, TwinTarget target) {
            this.source = source;
            this.target = target;
            this.lastDueNs = clockNs.getAsLong();
        }

        @Override
        public boolean isConnected() {
            return true;
        }

        @Override
        public boolean write(long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
                throws TransportException {
            synchronized (TwinTransport.this) {
                deliver();
                checkWhole();
                Connection.requireExtent(
                        "source", sourceOffsetBytes, lengthBytes, source.lengthBytes());
                Connection.requireExtent(
                        "target", targetOffsetBytes, lengthBytes, target.lengthBytes());
                if (underWayCount >= MAX_UNDER_WAY) {
                    return false;
                }
                byte[] bytes = new byte[lengthBytes];
                long from = source.address() + sourceOffsetBytes;
                Memory.copy(null, from, bytes, Memory.BYTES, lengthBytes);
                start(faults.of(random.nextInt(1000)), targetOffsetBytes, bytes);
                return true;
            }
        }

        private void start(TwinFaults.Fault fault, long offset, byte[] bytes) {
            switch (fault) {
                case NONE -> addInOrder(0, offset, bytes);
                case DROP -> {}
                case DUPLICATE -> {
                    addInOrder(0, offset, bytes);
                    add(late(), offset, bytes);
                }
                case REORDER -> add(late(), offset, bytes);
                case TEAR -> tear(offset, bytes);
                case DELAY -> addInOrder(random.nextLong(faults.maxDelayNs()), offset, bytes);
                case CUT -> {
                    cut = true;
                    underWay.removeIf(landing -> landing.by == this && random.nextBoolean());
                }
            }
        }

        /** A word stays whole, for network cards write aligned words in one piece. */
        private void tear(long offset, byte[] bytes) {
            int words = bytes.length / Long.BYTES;
            int at = Long.BYTES * random.nextInt(words + 1);
            byte[] first = Arrays.copyOf(bytes, at);
            byte[] rest = Arrays.copyOfRange(bytes, at, bytes.length);
            boolean restComesFirst = random.nextBoolean();
            addInOrder(0, restComesFirst ? offset + at : offset, restComesFirst ? rest : first);
            if (random.nextBoolean()) {
                add(late(), restComesFirst ? offset : offset + at, restComesFirst ? first : rest);
            }
        }

        private void addInOrder(long delayNs, long offset, byte[] bytes) {
            lastDueNs = Math.max(lastDueNs, clockNs.getAsLong() + delayNs) + bytes.length * byteNs;
            add(lastDueNs, offset, bytes);
        }

        private long late() {
            return clockNs.getAsLong() + random.nextLong(faults.maxDelayNs());
        }

        private void add(long dueNs, long offset, byte[] bytes) {
            underWayCount++;
            underWay.add(new Landing(dueNs, nextOrder++, this, target, offset, bytes));
        }

        private void checkWhole() throws TransportException {
            if (cut || closed || target.closed) {
                throw new TransportException(
                        "the connection is broken: cut="
                                + cut
                                + ", closed="
                                + closed
                                + ", targetClosed="
                                + target.closed);
            }
        }

        /** Writes of one connection keep their order here, unless a fault befalls them. */
        @Override
        public void flush() throws TransportException {
            poll();
        }

        @Override
        public void poll() throws TransportException {
            synchronized (TwinTransport.this) {
                deliver();
                checkWhole();
            }
        }

        @Override
        public boolean isIdle() {
            synchronized (TwinTransport.this) {
                return underWayCount == 0;
            }
        }

        /** What is under way may still land: a network keeps no promise about that either. */
        @Override
        public void close() {
            closed = true;
        }
    }
}
