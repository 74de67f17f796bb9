// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.testing;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.HostMemory;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.OwnedResources;
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
 * Simulates a network between two ends in one process, with seeded faults. Both ends use one
 * instance.
 *
 * <p>A write is copied when it starts and arrives when it is due and some thread calls {@link
 * #deliver}, as every write and poll does. A write to a closed target is dropped, as a network
 * adapter drops writes with a revoked key. Thread-safe.
 */
public final class SimulatedTransport implements OneSidedTransport {

    private static final int MAX_IN_FLIGHT = 64;

    private final Random random;
    private final LongSupplier clockNs;
    private final Map<Long, SimulatedTarget> targets = new HashMap<>();
    private final OwnedResources resources = new OwnedResources("simulated");
    private final PriorityQueue<Arrival> inFlight = new PriorityQueue<>();
    private SimulatedFaults faults;
    private long byteNs;
    private long nextKey = 1;
    private long nextOrder;

    /**
     * @param faults of the writes
     * @param seed equal seeds, clocks and calls lead to equal results
     * @param clockNs may be virtual
     */
    public SimulatedTransport(SimulatedFaults faults, long seed, LongSupplier clockNs) {
        this.faults = faults;
        this.random = new Random(seed);
        this.clockNs = clockNs;
    }

    @Override
    public String name() {
        return "simulated";
    }

    /** Replaces the faults of all later writes. */
    public synchronized void setFaults(SimulatedFaults faults) {
        this.faults = faults;
    }

    /**
     * Sets the bandwidth of all later writes.
     *
     * @param byteNs time in ns that a connection needs for each byte; initially 0
     */
    public synchronized void setByteNs(long byteNs) {
        this.byteNs = byteNs;
    }

    @Override
    public synchronized Target registerTarget(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        SimulatedTarget target = resources.add(new SimulatedTarget(lengthBytes, nextKey++));
        targets.put(target.key, target);
        return target;
    }

    @Override
    public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
        Transport.requireRegistrable(lengthBytes);
        return resources.add(new HostMemory(Region.allocateZeroed(lengthBytes)));
    }

    @Override
    public synchronized Connection connect(byte[] descriptor, RegisteredMemory source)
            throws TransportException {
        if (descriptor.length != Long.BYTES) {
            throw new TransportException(
                    "Descriptor of a wrong length: lengthBytes=" + descriptor.length);
        }
        SimulatedTarget target = targets.get(ByteBuffer.wrap(descriptor).getLong());
        if (target == null) {
            throw new TransportException("The target is closed.");
        }
        return new SimulatedConnection(source, target);
    }

    /** Completes all writes that are due. */
    public synchronized void deliver() {
        long now = clockNs.getAsLong();
        while (!inFlight.isEmpty() && inFlight.peek().dueNs <= now) {
            inFlight.remove().arrive();
        }
    }

    @Override
    public synchronized void close() {
        resources.close();
        inFlight.clear();
    }

    private final class SimulatedTarget implements Target, OwnedResources.Item {

        private final Region region;
        private final long key;
        private volatile boolean closed;

        SimulatedTarget(long lengthBytes, long key) {
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
        public Region region() {
            return region;
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
            synchronized (SimulatedTransport.this) {
                closed = true;
                targets.remove(key);
                region.close();
            }
        }
    }

    private record Arrival(
            long dueNs,
            long order,
            SimulatedConnection by,
            SimulatedTarget target,
            long offset,
            byte[] bytes)
            implements Comparable<Arrival> {

        @Override
        public int compareTo(Arrival other) {
            return dueNs != other.dueNs
                    ? Long.compare(dueNs, other.dueNs)
                    : Long.compare(order, other.order);
        }

        void arrive() {
            by.inFlightCount--;
            if (!target.closed) {
                long address = target.address() + offset;
                Memory.copy(bytes, Memory.BYTES, null, address, bytes.length);
            }
        }
    }

    private final class SimulatedConnection implements Connection {

        private final RegisteredMemory source;
        private final SimulatedTarget target;
        private long lastDueNs;
        private int inFlightCount;
        private boolean cut;
        private boolean closed;

        SimulatedConnection(RegisteredMemory source, SimulatedTarget target) {
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
            synchronized (SimulatedTransport.this) {
                deliver();
                requireIntact();
                Connection.requireExtent(
                        "source", sourceOffsetBytes, lengthBytes, source.lengthBytes());
                Connection.requireExtent(
                        "target", targetOffsetBytes, lengthBytes, target.lengthBytes());
                if (inFlightCount >= MAX_IN_FLIGHT) {
                    return false;
                }
                byte[] bytes = new byte[lengthBytes];
                long from = source.address() + sourceOffsetBytes;
                Memory.copy(null, from, bytes, Memory.BYTES, lengthBytes);
                start(faults.of(random.nextInt(1000)), targetOffsetBytes, bytes);
                return true;
            }
        }

        private void start(SimulatedFaults.Fault fault, long offset, byte[] bytes) {
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
                    inFlight.removeIf(arrival -> arrival.by == this && random.nextBoolean());
                }
            }
        }

        /** Splits a write at a word, since network adapters write aligned words atomically. */
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
            inFlightCount++;
            inFlight.add(new Arrival(dueNs, nextOrder++, this, target, offset, bytes));
        }

        private void requireIntact() throws TransportException {
            if (cut || closed || target.closed) {
                throw new TransportException(
                        "Connection is broken: cut="
                                + cut
                                + ", closed="
                                + closed
                                + ", targetClosed="
                                + target.closed);
            }
        }

        /** Writes of one connection stay in order, except by a fault. */
        @Override
        public void flush() throws TransportException {
            poll();
        }

        @Override
        public void poll() throws TransportException {
            synchronized (SimulatedTransport.this) {
                deliver();
                requireIntact();
            }
        }

        @Override
        public boolean isIdle() {
            synchronized (SimulatedTransport.this) {
                return inFlightCount == 0;
            }
        }

        /** In-flight writes may still arrive, as in a network. */
        @Override
        public void close() {
            closed = true;
        }
    }
}
