// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authenticates writers that connect to a reader's process, and passes each to its channel.
 *
 * <p>An unauthenticated writer occupies one entry of a bounded list for a bounded time, and the
 * rate of such handshakes is limited. If the list is full, a new connection displaces the oldest
 * one of the host with the most entries, so peers that connect and stay silent block nobody. {@link
 * #accept}, {@link #step} and the other methods are for one thread; any thread may {@link #add} and
 * {@link #remove} channels.
 */
public final class SessionListener implements AutoCloseable {

    /**
     * Limits for unauthenticated writers.
     *
     * @param maxPendingCount concurrent handshakes, at least 1
     * @param maxPerSecond handshakes started per second, without those that authenticated, at least
     *     1; bursts of up to 8 are permitted
     */
    public record Limits(int maxPendingCount, int maxPerSecond) {

        public static final Limits DEFAULT = new Limits(64, 200);

        public Limits {
            if (maxPendingCount < 1 || maxPerSecond < 1) {
                throw new IllegalArgumentException(
                        "Limits admit no writer: maxPendingCount=%d, maxPerSecond=%d. Both must be at least 1."
                                .formatted(maxPendingCount, maxPerSecond));
            }
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(SessionListener.class);

    /** Maximum of handshakes that start in one step. */
    private static final int BURST = 8;

    private static final long REPORT_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private final UUID job;
    private final JobSecret secret;
    private final SessionOptions options;
    private final Limits limits;
    private final HandshakeRateLimiter rateLimiter;
    private final SecureRandom random = new SecureRandom();
    private final Map<Integer, ReaderSession> channels = new ConcurrentHashMap<>();
    private final Deque<Pending> pending = new ArrayDeque<>();
    private long refusedCount;
    private @Nullable String lastRefused;
    private long reportAtNs;
    private @Nullable Error breakdown;

    /**
     * @param job whose writers are admitted; those of other jobs are refused
     * @param secret of the job, from which the token of each attempt is derived
     */
    public SessionListener(UUID job, JobSecret secret, SessionOptions options, Limits limits) {
        this.job = job;
        this.secret = secret;
        this.options = options;
        this.limits = limits;
        this.rateLimiter = new HandshakeRateLimiter(limits.maxPerSecond(), BURST);
    }

    /**
     * Admits writers of a session's channel from now on. Thread-safe.
     *
     * @throws IllegalArgumentException if the channel has a session
     */
    public void add(ReaderSession session) {
        if (channels.putIfAbsent(session.channel(), session) != null) {
            throw new IllegalArgumentException(
                    "Channel has a reader already: channel=" + session.channel());
        }
    }

    /** Refuses later writers of a session's channel. Does not close the session. Thread-safe. */
    public void remove(ReaderSession session) {
        channels.remove(session.channel(), session);
    }

    /**
     * Whether another handshake may start now. Until then connections wait in the queue of the
     * {@link ControlServer}.
     *
     * @param nowNs current time, monotonic
     */
    public boolean isReady(long nowNs) {
        return rateLimiter.isPermitted(nowNs);
    }

    /**
     * Starts the handshake of a link that a writer opened. If the limit is reached, another pending
     * link is closed without a message, because none can be sent before the TLS handshake.
     *
     * @param from remote address of the link
     * @param nowNs current time, monotonic
     */
    public void accept(ControlLink link, InetAddress from, long nowNs) {
        if (pending.size() >= limits.maxPendingCount()) {
            Pending displaced = oldestOfTheLargestHost();
            pending.remove(displaced);
            displaced.link.close();
            refuse(displaced.link, "displaced by a later handshake, " + limits);
        }
        rateLimiter.start(nowNs);
        pending.add(new Pending(link, from, nowNs));
    }

    private Pending oldestOfTheLargestHost() {
        Map<Long, Integer> counts = new HashMap<>();
        pending.forEach(next -> counts.merge(next.host, 1, Integer::sum));
        int most = Collections.max(counts.values());
        return pending.stream().filter(next -> counts.get(next.host) == most).findFirst().get();
    }

    /**
     * Continues all pending handshakes. Never blocks.
     *
     * @param nowNs current time, monotonic
     * @throws Error of this process, for example if it cannot start a thread; thrown after all
     *     other handshakes have continued, and again by each later step
     */
    public void step(long nowNs) {
        pending.removeIf(next -> next.isOver(nowNs));
        report(nowNs);
        if (breakdown != null) {
            throw breakdown;
        }
    }

    private void refuse(ControlLink link, String reason) {
        refusedCount++;
        lastRefused = "peer=" + link.peer() + ", reason=" + reason;
    }

    /** Logs at most once a second: a flood of connections must not flood the log. */
    private void report(long nowNs) {
        if (lastRefused != null && nowNs - reportAtNs >= 0) {
            LOG.warn("Writers were refused: count={}, last: {}", refusedCount, lastRefused);
            lastRefused = null;
            reportAtNs = nowNs + REPORT_INTERVAL_NS;
        }
    }

    /** Number of writers refused or displaced so far, authenticated or not. */
    public long refusedCount() {
        return refusedCount;
    }

    /** Number of pending handshakes. */
    int pendingCount() {
        return pending.size();
    }

    /** Closes the links of pending handshakes. Sessions of admitted writers stay open. */
    @Override
    public void close() {
        pending.forEach(next -> next.link.close());
        pending.clear();
    }

    /** A writer that has not authenticated yet. */
    private final class Pending {

        private final ControlLink link;
        private final long host;
        private final long startNs;
        private @Nullable Hello hello;
        private Nonce nonce;
        private AttemptToken token;

        Pending(ControlLink link, InetAddress from, long startNs) {
            this.link = link;
            this.host = LinkQueue.host(from);
            this.startNs = startNs;
        }

        /**
         * Continues the handshake.
         *
         * @return whether the writer was admitted or refused
         */
        boolean isOver(long nowNs) {
            try {
                return step(nowNs);
            } catch (ProtocolException e) {
                drop(e.answer());
                refuse(link, e.getMessage());
            } catch (IOException e) {
                link.close();
                if (!hasLeft(e)) {
                    refuse(link, e.getMessage());
                }
            } catch (RuntimeException e) {
                link.close();
                refuse(link, e.toString());
            } catch (Error e) {
                link.close();
                refuse(link, e.toString());
                breakdown = breakdown == null ? e : breakdown;
            }
            return true;
        }

        /**
         * Whether the writer closed the connection, as its task does if it ends while it connects:
         * no reason for a warning. TLS wraps the end of the socket in exceptions of its own.
         */
        private static boolean hasLeft(IOException end) {
            Throwable cause = end.getCause();
            while (cause != null
                    && !(cause instanceof SocketException || cause instanceof EOFException)) {
                cause = cause.getCause();
            }
            return cause != null;
        }

        private boolean step(long nowNs) throws IOException {
            if (nowNs - startNs > options.handshakeTimeoutNs()) {
                throw new IOException("Writer did not authenticate in time: peer=" + link.peer());
            }
            ControlMessage message = link.receive();
            if (message == null) {
                return false;
            }
            if (hello == null && message instanceof Hello first) {
                challenge(first);
                return false;
            }
            if (hello != null && message instanceof Proof proof) {
                if (!token.isProofValid(hello, nonce, proof)) {
                    throw new ProtocolException(Refusal.PROOF.message(), Refusal.PROOF);
                }
                rateLimiter.refund();
                link.admit();
                // Check the channel only now: an unauthenticated peer learns nothing of channels
                // and attempts.
                admissible(hello).offer(new Admission(link, hello, nonce, token));
                return true;
            }
            throw new ProtocolException("Unexpected message in the handshake: message=" + message);
        }

        private void challenge(Hello first) throws IOException {
            hello = first;
            nonce = Nonce.next(random);
            token = secret.token(first.job(), first.attempt());
            link.send(token.challenge(first, nonce));
        }

        private ReaderSession admissible(Hello proven) throws ProtocolException {
            ReaderSession session = channels.get(proven.channel());
            if (session == null || !proven.job().equals(job)) {
                throw new ProtocolException(Refusal.CHANNEL.message(), Refusal.CHANNEL);
            }
            if (proven.attempt() < session.attempt()) {
                throw new ProtocolException(Refusal.STALE_ATTEMPT.message(), Refusal.STALE_ATTEMPT);
            }
            return session;
        }

        private void drop(@Nullable Refusal answer) {
            if (answer == null) {
                link.close();
            } else {
                ReaderSession.refuse(link, answer);
            }
        }
    }
}
