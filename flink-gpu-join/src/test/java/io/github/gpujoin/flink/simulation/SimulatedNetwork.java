// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.exchange.ring.RingHost;
import io.github.gpujoin.rdma.session.ControlLink;
import io.github.gpujoin.rdma.session.ControlMessage;
import io.github.gpujoin.rdma.session.ControlServer;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.testing.SimulatedFaults;
import io.github.gpujoin.rdma.testing.SimulatedTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What rings see of the machines: memory that others write, control connections, and the threads
 * beside the mailboxes, whose rounds are done as time passes.
 */
final class SimulatedNetwork implements RingHost, AutoCloseable {

    private static final long ROUND_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long MAX_LATENCY_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int FIRST_PORT = 1_024;

    /** Of a thousand messages, those behind which their connection breaks. */
    private static final int CUTS = 10;

    private static SimulatedNetwork current;

    private final SimulatedTransport transport;
    private final Random random;
    private final Map<Integer, Server> servers = new HashMap<>();
    private final List<Rounds> rounds = new ArrayList<>();
    private int nextPort = FIRST_PORT;
    private boolean faulty;

    private SimulatedNetwork(SimulatedFaults faults, long seed) {
        this.transport = new SimulatedTransport(faults, seed, () -> VirtualTime.nanoTime());
        this.random = new Random(seed);
        this.faulty = !faults.equals(SimulatedFaults.NONE);
    }

    /** Starts the network of a life; the one before it must be closed. */
    static SimulatedNetwork open(SimulatedFaults faults, long seed) {
        current = new SimulatedNetwork(faults, seed);
        return current;
    }

    static SimulatedNetwork current() {
        return current;
    }

    SimulatedTransport transport() {
        return transport;
    }

    /** Nothing breaks from now on. */
    void heal() {
        faulty = false;
        transport.setFaults(SimulatedFaults.NONE);
    }

    boolean isFaulty() {
        return faulty;
    }

    /** Does what is due. */
    void step() {
        if (rounds.isEmpty()) {
            return;
        }
        transport.deliver();
        for (Rounds due : List.copyOf(rounds)) {
            due.step();
        }
    }

    @Override
    public ControlServer listen(InetAddress address) {
        Server server = new Server(new InetSocketAddress(address, nextPort++));
        servers.put(server.address.getPort(), server);
        return server;
    }

    @Override
    public ControlLink.Dialer dialer(InetSocketAddress address) {
        return () -> {
            Link writer = new Link("port " + address.getPort());
            Link reader = new Link("a writer");
            writer.other = reader;
            reader.other = writer;
            Server server = servers.get(address.getPort());
            if (server == null) {
                writer.broken = true;
            } else {
                server.dialled.add(reader);
            }
            return writer;
        };
    }

    @Override
    public AutoCloseable repeat(String name, Runnable round, Consumer<Throwable> failed) {
        Rounds repeated = new Rounds(round, failed);
        rounds.add(repeated);
        return () -> rounds.remove(repeated);
    }

    @Override
    public void close() {
        transport.close();
    }

    private static final class Rounds {

        private final Runnable round;
        private final Consumer<Throwable> failed;
        private long dueNs = VirtualTime.nanoTime();

        Rounds(Runnable round, Consumer<Throwable> failed) {
            this.round = round;
            this.failed = failed;
        }

        void step() {
            if (VirtualTime.nanoTime() < dueNs) {
                return;
            }
            dueNs = VirtualTime.nanoTime() + ROUND_NS;
            try {
                round.run();
            } catch (RuntimeException | Error e) {
                failed.accept(e);
            }
        }
    }

    private final class Server implements ControlServer {

        private final InetSocketAddress address;
        private final ArrayDeque<Link> dialled = new ArrayDeque<>();

        Server(InetSocketAddress address) {
            this.address = address;
        }

        @Override
        public InetSocketAddress address() {
            return address;
        }

        @Override
        public void step(SessionListener listener, long nowNs) {
            while (listener.isReady(nowNs) && !dialled.isEmpty()) {
                listener.accept(dialled.remove(), address.getAddress(), nowNs);
            }
            listener.step(nowNs);
        }

        @Override
        public void close() {
            servers.remove(address.getPort());
            dialled.forEach(Link::close);
        }
    }

    /** One end of a control connection: ordered and lossless until it breaks, as TCP is. */
    private final class Link implements ControlLink {

        private record Sent(long dueNs, ControlMessage message) {}

        private final String peer;
        private final ArrayDeque<Sent> incoming = new ArrayDeque<>();
        private Link other;
        private long lastDueNs;
        private boolean broken;

        Link(String peer) {
            this.peer = peer;
        }

        @Override
        public void send(ControlMessage message) throws IOException {
            if (broken || other.broken) {
                throw new IOException("the link is broken");
            }
            lastDueNs = Math.max(lastDueNs, VirtualTime.nanoTime() + latencyNs());
            other.incoming.add(new Sent(lastDueNs, message));
            if (faulty && random.nextInt(1_000) < CUTS) {
                broken = true;
            }
        }

        private long latencyNs() {
            return 1 + random.nextLong(MAX_LATENCY_NS);
        }

        @Override
        public ControlMessage receive() throws IOException {
            if (!incoming.isEmpty() && incoming.peek().dueNs() <= VirtualTime.nanoTime()) {
                return incoming.remove().message();
            }
            if (broken || incoming.isEmpty() && other.broken) {
                throw new IOException("the link is broken");
            }
            return null;
        }

        @Override
        public String peer() {
            return peer;
        }

        @Override
        public void close() {
            broken = true;
        }
    }
}
