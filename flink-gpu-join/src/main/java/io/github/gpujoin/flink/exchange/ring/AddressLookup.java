package io.github.gpujoin.flink.exchange.ring;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the coordinator where to write, until it says so.
 *
 * <p>Asked, not told by an event: Flink delivers events by the mailbox, which a sender that holds
 * its first chunk back does not serve.
 */
final class AddressLookup implements SessionAgent.Duty {

    /** Takes what was found; by the agent's thread. */
    @FunctionalInterface
    interface Finder {
        void found(WriterAddresses addresses) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(AddressLookup.class);
    private static final long ASK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Coordinator coordinator;
    private final Finder finder;
    private final AddressRequest request;
    private CompletableFuture<CoordinationResponse> answer;
    private long askAtNs;
    private boolean done;
    private volatile IOException failure;

    /**
     * @throws IOException where the coordinator cannot be told
     */
    AddressLookup(Coordinator coordinator, Finder finder) throws IOException {
        this.coordinator = coordinator;
        this.finder = finder;
        UUID number = UUID.randomUUID();
        this.request = new AddressRequest(number);
        this.askAtNs = System.nanoTime();
        coordinator.tell(new WriterReady(number));
    }

    @Override
    public void step(long nowNs) {
        if (done) {
            return;
        }
        try {
            if (answer == null && nowNs - askAtNs >= 0) {
                answer = coordinator.ask(request);
            }
            if (answer != null && answer.isDone()) {
                CompletableFuture<CoordinationResponse> answered = answer;
                answer = null;
                askAtNs = nowNs + ASK_AGAIN_NS;
                take(answered);
            }
        } catch (IOException | RuntimeException | Error e) {
            done = true;
            failure = new IOException("a sender must learn where to write: " + e.getMessage(), e);
        }
    }

    private void take(CompletableFuture<CoordinationResponse> answered) throws IOException {
        WriterAddresses addresses;
        try {
            addresses = WriterAddresses.of(answered.join());
        } catch (CompletionException e) {
            // Flink's RPC waits for an answer for a time only; who waits longer asks again.
            LOG.debug("The coordinator has not answered yet", e);
            return;
        }
        if (!addresses.targets().isEmpty()) {
            done = true;
            finder.found(addresses);
        }
    }

    /**
     * For the mailbox.
     *
     * @throws IOException where what was found is of no use
     */
    void checkNotFailed() throws IOException {
        IOException failed = failure;
        if (failed != null) {
            throw new IOException(failed.getMessage(), failed);
        }
    }
}
