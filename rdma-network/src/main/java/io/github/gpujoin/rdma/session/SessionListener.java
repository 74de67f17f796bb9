package io.github.gpujoin.rdma.session;

import io.github.gpujoin.rdma.session.ControlMessage.Hello;
import io.github.gpujoin.rdma.session.ControlMessage.Proof;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The door of a reader's process: lets writers prove themselves and hands each to its channel.
 *
 * <p>Until a writer has proved itself it costs one entry of a bounded list, for a bounded time, and
 * at most so many come in a second. {@link #accept} and {@link #step} are for one thread; channels
 * may be added and removed by any.
 */
public final class SessionListener implements AutoCloseable {

    /** Bounds on writers that have not proved themselves. */
    public record Limits(int maxPending, int maxPerSecond) {

        public static final Limits DEFAULT = new Limits(64, 500);

        public Limits {
            if (maxPending < 1 || maxPerSecond < 1) {
                throw new IllegalArgumentException(
                        "limits are positive: maxPending="
                                + maxPending
                                + ", maxPerSecond="
                                + maxPerSecond);
            }
        }
    }

    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final UUID job;
    private final JobSecret secret;
    private final SessionOptions options;
    private final Limits limits;
    private final SecureRandom random = new SecureRandom();
    private final Map<Integer, ReaderSession> channels = new ConcurrentHashMap<>();
    private final Deque<Pending> pending = new ArrayDeque<>();
    private long secondStartNs;
    private int acceptedInSecond;

    public SessionListener(UUID job, JobSecret secret, SessionOptions options, Limits limits) {
        this.job = job;
        this.secret = secret;
        this.options = options;
        this.limits = limits;
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

    /** Takes over a link that a writer has made. */
    public void accept(ControlLink link, long nowNs) {
        if (nowNs - secondStartNs >= SECOND_NS || acceptedInSecond == 0) {
            secondStartNs = nowNs;
            acceptedInSecond = 0;
        }
        if (pending.size() >= limits.maxPending() || acceptedInSecond >= limits.maxPerSecond()) {
            ReaderSession.refuse(link, Refusal.BUSY);
            return;
        }
        acceptedInSecond++;
        pending.add(new Pending(link, nowNs));
    }

    /** Goes on with the handshakes under way. Never blocks. */
    public void step(long nowNs) {
        for (Iterator<Pending> all = pending.iterator(); all.hasNext(); ) {
            Pending next = all.next();
            try {
                if (next.step(nowNs)) {
                    all.remove();
                }
            } catch (ProtocolException e) {
                all.remove();
                next.drop(e.answer());
            } catch (IOException e) {
                all.remove();
                next.link.close();
            }
        }
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
        private final long startNs;
        private Hello hello;
        private Nonce nonce;
        private AttemptToken token;

        Pending(ControlLink link, long startNs) {
            this.link = link;
            this.startNs = startNs;
        }

        /**
         * @return whether the writer was handed over
         */
        boolean step(long nowNs) throws IOException {
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

        void drop(Refusal answer) {
            if (answer == null) {
                link.close();
            } else {
                ReaderSession.refuse(link, answer);
            }
        }
    }
}
