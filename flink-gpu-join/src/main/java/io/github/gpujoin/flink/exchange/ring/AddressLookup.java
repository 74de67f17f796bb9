// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests the addresses of the join's rings from the coordinator until it answers.
 *
 * <p>Events could not deliver them: Flink delivers events through the mailbox, which a sender does
 * not serve while its first chunk waits.
 *
 * <p>Runs in the agent's thread, except {@link #checkNotFailed}.
 */
final class AddressLookup implements SessionAgent.Duty {

    /** Called once with the addresses, in the agent's thread. */
    @FunctionalInterface
    interface Finder {
        void found(WriterAddresses addresses) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(AddressLookup.class);
    private static final long RETRY_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Coordinator coordinator;
    private final Finder finder;
    private final AddressRequest request;
    private @Nullable CompletableFuture<CoordinationResponse> answer;
    private long nextRequestNs;
    private boolean isDone;
    private volatile IOException failure;

    /**
     * @throws IOException if the announcement does not reach the coordinator
     */
    AddressLookup(Coordinator coordinator, Finder finder) throws IOException {
        this.coordinator = coordinator;
        this.finder = finder;
        UUID number = UUID.randomUUID();
        this.request = new AddressRequest(number);
        this.nextRequestNs = System.nanoTime();
        coordinator.announce(new WriterReady(number));
    }

    @Override
    public void step(long nowNs) {
        if (isDone) {
            return;
        }
        try {
            if (answer == null && nowNs - nextRequestNs >= 0) {
                answer = coordinator.requestAddresses(request);
            }
            if (answer != null && answer.isDone()) {
                CompletableFuture<CoordinationResponse> answered = answer;
                answer = null;
                nextRequestNs = nowNs + RETRY_INTERVAL_NS;
                handle(answered);
            }
        } catch (IOException | RuntimeException | Error e) {
            isDone = true;
            failure =
                    new IOException(
                            "Sender cannot connect to the join's rings: " + e.getMessage(), e);
        }
    }

    private void handle(CompletableFuture<CoordinationResponse> answered) throws IOException {
        WriterAddresses addresses;
        try {
            addresses = WriterAddresses.of(answered.join());
        } catch (CompletionException e) {
            // Flink's RPC has timed out. The next step repeats the request.
            LOG.debug("The coordinator has not answered yet", e);
            return;
        }
        if (!addresses.targets().isEmpty()) {
            isDone = true;
            finder.found(addresses);
        }
    }

    /**
     * Reports a failure to the mailbox thread.
     *
     * @throws IOException if an address is not usable, or the coordinator is not reachable
     */
    void checkNotFailed() throws IOException {
        IOException failed = failure;
        if (failed != null) {
            throw new IOException(failed.getMessage(), failed);
        }
    }
}
