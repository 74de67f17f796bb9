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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The door of a reader's process: lets writers prove themselves and hands each to its channel.
 *
 * <p>A stranger is a writer that has not proved itself. It costs one entry of a bounded list, for a
 * bounded time, and a bounded number of them begin in a second. If the list is full, a new stranger
 * displaces the oldest one of the host that has the most: who connects and says nothing keeps
 * nobody out. {@link #accept} and {@link #step} are for one thread; channels may be added and
 * removed by any.
 */
public final class SessionListener implements AutoCloseable {

    /**
     * Bounds on strangers.
     *
     * @param maxUnderWay handshakes at once
     * @param maxPerSecond handshakes begun in a second whose writers do not prove themselves
     */
    public record Limits(int maxUnderWay, int maxPerSecond) {

        public static final Limits DEFAULT = new Limits(64, 200);

        public Limits {
            if (maxUnderWay < 1 || maxPerSecond < 1) {
                throw new IllegalArgumentException(
                        "Limits let nobody in: maxUnderWay=%d, maxPerSecond=%d. Both are at least 1."
                                .formatted(maxUnderWay, maxPerSecond));
            }
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(SessionListener.class);

    /** Handshakes that begin in one step at most. */
    private static final int BURST = 8;

    private static final long REPORT_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private final UUID job;
    private final JobSecret secret;
    private final SessionOptions options;
    private final Limits limits;
    private final HandshakeGate gate;
    private final SecureRandom random = new SecureRandom();
    private final Map<Integer, ReaderSession> channels = new ConcurrentHashMap<>();
    private final Deque<Pending> pending = new ArrayDeque<>();
    private long turnedAway;
    private String lastTurnedAway;
    private long reportAtNs;
    private Error breakdown;

    public SessionListener(UUID job, JobSecret secret, SessionOptions options, Limits limits) {
        this.job = job;
        this.secret = secret;
        this.options = options;
        this.limits = limits;
        this.gate = new HandshakeGate(limits.maxPerSecond(), BURST);
    }

    public void add(ReaderSession session) {
        if (channels.putIfAbsent(session.channel(), session) != null) {
            throw new IllegalArgumentException(
                    "a channel has one reader: channel=" + session.channel());
        }
    }

    public void remove(ReaderSession session) {
        channels.remove(session.channel(), session);
    }

    /** Whether another handshake may begin now; until then a connection waits where it is. */
    public boolean isReady(long nowNs) {
        return gate.isOpen(nowNs);
    }

    /**
     * Begins the handshake of a link that a writer has made. If as many as may be are under way,
     * one of them ends without a word, since nothing can be said over TLS before its own handshake.
     *
     * @param from where the link comes from
     */
    public void accept(ControlLink link, InetAddress from, long nowNs) {
        if (pending.size() >= limits.maxUnderWay()) {
            Pending displaced = oldestOfTheLargestHost();
            pending.remove(displaced);
            displaced.link.close();
            turnAway(displaced.link, "a later handshake took its place: " + limits);
        }
        gate.enter(nowNs);
        pending.add(new Pending(link, from, nowNs));
    }

    private Pending oldestOfTheLargestHost() {
        Map<Long, Integer> counts = new HashMap<>();
        pending.forEach(next -> counts.merge(next.host, 1, Integer::sum));
        int most = Collections.max(counts.values());
        return pending.stream().filter(next -> counts.get(next.host) == most).findFirst().get();
    }

    /**
     * Goes on with the handshakes under way. Never blocks.
     *
     * @throws Error that this process met, as where it can start no thread; the other handshakes
     *     have gone on before it is thrown
     */
    public void step(long nowNs) {
        pending.removeIf(next -> next.isOver(nowNs));
        report(nowNs);
        if (breakdown != null) {
            throw breakdown;
        }
    }

    private void turnAway(ControlLink link, String reason) {
        turnedAway++;
        lastTurnedAway = "peer=" + link.peer() + ", reason=" + reason;
    }

    /** Says it once a second at most: who floods the listener must not flood the log. */
    private void report(long nowNs) {
        if (lastTurnedAway != null && nowNs - reportAtNs >= 0) {
            LOG.warn("Writers were turned away: count={}, last: {}", turnedAway, lastTurnedAway);
            lastTurnedAway = null;
            reportAtNs = nowNs + REPORT_INTERVAL_NS;
        }
    }

    /** Writers turned away so far. */
    public long turnedAwayCount() {
        return turnedAway;
    }

    /** Handshakes that are under way. */
    int pendingCount() {
        return pending.size();
    }

    @Override
    public void close() {
        pending.forEach(next -> next.link.close());
        pending.clear();
    }

    /** A writer that has not proved itself yet. */
    private final class Pending {

        private final ControlLink link;
        private final long host;
        private final long startNs;
        private Hello hello;
        private Nonce nonce;
        private AttemptToken token;

        Pending(ControlLink link, InetAddress from, long startNs) {
            this.link = link;
            this.host = WaitingLinks.host(from);
            this.startNs = startNs;
        }

        /**
         * @return whether the writer was handed over or turned away
         */
        boolean isOver(long nowNs) {
            try {
                return step(nowNs);
            } catch (ProtocolException e) {
                drop(e.answer());
                turnAway(link, e.getMessage());
            } catch (IOException e) {
                link.close();
                if (!hasLeft(e)) {
                    turnAway(link, e.getMessage());
                }
            } catch (RuntimeException e) {
                link.close();
                turnAway(link, e.toString());
            } catch (Error e) {
                link.close();
                turnAway(link, e.toString());
                breakdown = breakdown == null ? e : breakdown;
            }
            return true;
        }

        /**
         * A writer whose task ends while it connects is nothing to warn of. TLS hides the end of
         * the socket behind exceptions of its own.
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
                throw new IOException("the writer does not prove itself: peer=" + link.peer());
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
                if (!token.isProofTrue(hello, nonce, proof)) {
                    throw new ProtocolException("a proof holds", Refusal.PROOF);
                }
                gate.prove();
                link.admit();
                // Only now: who has proved nothing learns nothing of channels and attempts.
                admissible(hello).offer(new Admission(link, hello, nonce, token));
                return true;
            }
            throw new ProtocolException("a handshake goes Hello, Proof: message=" + message);
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
                throw new ProtocolException(Refusal.CHANNEL.sentence(), Refusal.CHANNEL);
            }
            if (proven.attempt() < session.attempt()) {
                throw new ProtocolException(
                        Refusal.STALE_ATTEMPT.sentence(), Refusal.STALE_ATTEMPT);
            }
            return session;
        }

        private void drop(Refusal answer) {
            if (answer == null) {
                link.close();
            } else {
                ReaderSession.refuse(link, answer);
            }
        }
    }
}
