package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.transport.GivenOut;
import io.github.gpujoin.rdma.transport.Threads;
import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpConnectionRequest;
import org.openucx.jucx.ucp.UcpConstants;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpListener;
import org.openucx.jucx.ucp.UcpListenerParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The targets of a transport and the one worker that peers reach them by.
 *
 * <p>Where the network card or the writer's own processor moves the bytes, nothing happens here.
 * Over TCP UCX moves them in this side's worker: its thread sleeps until there is something, copies
 * it into the target, and is thereby the one that writes what readers of the target load. It stores
 * data and flags in the order of their flushes, but promises no release store; the reader's acquire
 * load is enough on processors that keep the order of stores (amd64), and the checksum of a slot
 * finds what came too early elsewhere.
 *
 * <p>Whoever is accepted over TCP can write anywhere in this process, for UCX checks neither key
 * nor bounds there. So an endpoint must show the token of a target, a random number of 64 bits that
 * went only to the peer that proved itself; each target accepts one endpoint in its life.
 */
class UcxAcceptor implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(UcxAcceptor.class);
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Turns before others get the lock. */
    private static final int MAX_TURNS = 64;

    private static final long IDLE_NS = 1_000_000;

    /** What a peer may do: write, and no more. */
    private static final long PROTECTION =
            UcpConstants.UCP_MEM_MAP_PROT_LOCAL_READ
                    | UcpConstants.UCP_MEM_MAP_PROT_LOCAL_WRITE
                    | UcpConstants.UCP_MEM_MAP_PROT_REMOTE_WRITE;

    private final UcpContext context;
    private final UcxEndpoints endpoints;

    /**
     * Guards all of UCX that is used here, but waiting. Fair, for the thread takes it again at
     * once.
     */
    private final ReentrantLock lock = new ReentrantLock(true);

    private final UcpWorker worker;
    private final UcpListener listener;
    private final Map<Long, UcxTarget> targets = new HashMap<>();

    /** Closed, with a writer whose endpoint has not ended; changed under the lock. */
    private final List<UcxTarget> ending = new CopyOnWriteArrayList<>();

    private final Thread thread;
    private volatile boolean closed;

    UcxAcceptor(UcpContext context, UcxEndpoints endpoints, InetAddress address)
            throws TransportException {
        this.context = context;
        this.endpoints = endpoints;
        this.worker = context.newWorker(new UcpWorkerParams().requestThreadSafety());
        try {
            this.listener =
                    worker.newListener(
                            new UcpListenerParams()
                                    .setSockAddr(new InetSocketAddress(address, 0))
                                    .setConnectionHandler(this::accept));
        } catch (UcxException e) {
            worker.close();
            throw new TransportException(
                    "ucx must listen on its address: address="
                            + address.getHostAddress()
                            + ", cause="
                            + e.getMessage(),
                    e);
        }
        this.thread = new Thread(this::run, "ucx-acceptor-" + listener.getAddress().getPort());
        thread.setDaemon(true);
        thread.start();
    }

    UcxTarget register(long lengthBytes) throws TransportException {
        lock.lock();
        try {
            UcpMemory memory = allocate(lengthBytes);
            try {
                long token = RANDOM.nextLong();
                byte[] descriptor = describe(memory, token, lengthBytes);
                UcxTarget target = new UcxTarget(this, memory, token, lengthBytes, descriptor);
                targets.put(token, target);
                return target;
            } catch (TransportException | RuntimeException e) {
                memory.deregister(); // UCX ends the process whose context is closed before
                throw e;
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * @throws TransportException where the memory's key is too long
     */
    byte[] describe(UcpMemory memory, long token, long lengthBytes) throws TransportException {
        byte[] key = bytes(memory.getRemoteKeyBuffer());
        return new UcxDescriptor(
                        listener.getAddress(), token, memory.getAddress(), lengthBytes, key)
                .encode();
    }

    private UcpMemory allocate(long lengthBytes) throws TransportException {
        try {
            UcpMemory memory =
                    context.memoryMap(
                            new UcpMemMapParams()
                                    .allocate()
                                    .setLength(lengthBytes)
                                    .setProtection(PROTECTION));
            Memory.fill(null, memory.getAddress(), lengthBytes, (byte) 0);
            return memory;
        } catch (UcxException e) {
            throw new TransportException(
                    "ucx needs memory for the ring (shared memory: room in /dev/shm, RDMA: ulimit -l):"
                            + " lengthBytes="
                            + lengthBytes
                            + ", cause="
                            + e.getMessage(),
                    e);
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    /** Called by the worker, so under the lock. */
    private void accept(UcpConnectionRequest request) {
        UcxTarget target = targets.get(request.getClientId());
        try {
            if (target == null || target.writer() != null) {
                LOG.warn(
                        "An endpoint shows the token of a target that has none yet: peer={}",
                        request.getClientAddress());
                request.reject();
                return;
            }
            UcpEndpointParams params =
                    new UcpEndpointParams()
                            .setConnectionRequest(request)
                            .setErrorHandler(
                                    (endpoint, status, message) ->
                                            LOG.debug("A writer's endpoint ended: {}", message));
            target.setWriter(endpoints.open(worker, params));
        } catch (UcxException e) {
            LOG.warn("An endpoint was not accepted: peer={}", request.getClientAddress(), e);
        }
    }

    private void run() {
        while (!closed) {
            if (progress()) {
                continue;
            }
            if (ending.isEmpty()) {
                worker.waitForEvents();
            } else {
                // An end is no event to wait for, and comes late at the worst.
                LockSupport.parkNanos(IDLE_NS);
            }
        }
    }

    /**
     * @return whether there may be more to do
     */
    private boolean progress() {
        lock.lock();
        try {
            boolean mayBeMore = takeTurns();
            ending.removeIf(this::isOver);
            return mayBeMore;
        } finally {
            lock.unlock();
        }
    }

    private boolean takeTurns() {
        try {
            for (int turn = 0; turn < MAX_TURNS; turn++) {
                if (worker.progress() == 0) {
                    return false;
                }
            }
            return true;
        } catch (Exception e) {
            LOG.warn("UCX's worker reports a failure", e);
            return false;
        }
    }

    /**
     * Starts to end what writes the target, which is freed after that. Never waits: whoever revokes
     * a ring drives other sessions, too. Memory whose writer could not be ended is not given back:
     * a leak is better than a corruption. Legal twice.
     */
    void revoke(UcxTarget target) {
        lock.lock();
        try {
            if (!targets.remove(target.token(), target)) {
                return;
            }
            if (target.writer() == null) {
                free(target);
                return;
            }
            target.setClosing(endpoints.close(target.writer()));
            ending.add(target);
        } finally {
            lock.unlock();
        }
        progress();
        worker.signal();
    }

    /** Under the lock. */
    private boolean isOver(UcxTarget target) {
        if (!target.closing().isOver()) {
            return false;
        }
        if (target.closing().hasEnded()) {
            free(target);
        } else {
            target.setOver();
        }
        return true;
    }

    private static void free(UcxTarget target) {
        GivenOut.closeQuietly(target.memory(), "ring's memory");
        target.setOver();
    }

    /** Waits until a target that was revoked is over. */
    void awaitEnd(UcxTarget target) {
        while (!target.isClosed()) {
            progress();
            LockSupport.parkNanos(IDLE_NS);
        }
    }

    /** After all targets. */
    @Override
    public void close() {
        closed = true;
        worker.signal();
        Threads.joinUninterruptibly(thread);
        listener.close();
        if (endpoints.areAllClosed()) {
            worker.close();
        }
    }
}
