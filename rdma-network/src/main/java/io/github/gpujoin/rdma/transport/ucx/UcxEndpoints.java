package io.github.gpujoin.rdma.transport.ucx;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucs.UcsConstants;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes and closes the endpoints of a transport, and keeps account of those that would not close.
 */
final class UcxEndpoints {

    private static final Logger LOG = LoggerFactory.getLogger(UcxEndpoints.class);
    private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    /** Asks UCX to end an endpoint. */
    @FunctionalInterface
    interface Closer {

        /**
         * @return whether UCX has done so, now that its worker has moved on
         */
        BooleanSupplier close(UcpEndpoint endpoint);
    }

    private final UcxOptions options;
    private final Closer closer;
    private final long closeTimeoutNs;
    private volatile boolean allClosed = true;

    UcxEndpoints(UcxOptions options) {
        this(options, endpoint -> startClose(options, endpoint)::isCompleted, CLOSE_TIMEOUT_NS);
    }

    UcxEndpoints(UcxOptions options, Closer closer, long closeTimeoutNs) {
        this.options = options;
        this.closer = closer;
        this.closeTimeoutNs = closeTimeoutNs;
    }

    /** Writes to shared memory are never under way, and UCX forces no endpoint there. */
    private static UcpRequest startClose(UcxOptions options, UcpEndpoint endpoint) {
        return options.isSharedMemory()
                ? endpoint.closeNonBlockingFlush()
                : endpoint.closeNonBlockingForce();
    }

    /**
     * An endpoint that reports the death of its peer, where UCX can.
     *
     * @param params with the peer
     */
    UcpEndpoint open(UcpWorker worker, UcpEndpointParams params) {
        return worker.newEndpoint(
                options.isSharedMemory() ? params : params.setPeerErrorHandlingMode());
    }

    /**
     * Starts to give up what is under way. Never waits, for that may take as long as a peer is
     * silent: its worker has to move on until it is over.
     */
    Closing close(UcpEndpoint endpoint) {
        try {
            return new Closing(endpoint, closer.close(endpoint));
        } catch (UcxException e) {
            // any other status is the connection's, which had failed: the endpoint is gone
            boolean isGone = e.getStatus() != UcsConstants.STATUS.UCS_ERR_INVALID_PARAM;
            Closing closing = new Closing(endpoint, () -> isGone);
            if (!isGone) {
                closing.giveUp(e);
            }
            return closing;
        }
    }

    /** Whether the context may be closed: with endpoints left, UCX would end the process. */
    boolean areAllClosed() {
        return allClosed;
    }

    static int progress(UcpWorker worker) {
        try {
            return worker.progress();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new UcxException(e.getMessage());
        }
    }

    /** The end of an endpoint; for one thread at a time. */
    final class Closing {

        private final UcpEndpoint endpoint;
        private final BooleanSupplier completed;
        private final long startNs = System.nanoTime();
        private boolean givenUp;

        private Closing(UcpEndpoint endpoint, BooleanSupplier completed) {
            this.endpoint = endpoint;
            this.completed = completed;
        }

        /** Whether it has ended, or is given up, with a line in the log: UCX did not end it. */
        boolean isOver() {
            if (!givenUp
                    && !completed.getAsBoolean()
                    && System.nanoTime() - startNs > closeTimeoutNs) {
                giveUp(null);
            }
            return givenUp || completed.getAsBoolean();
        }

        /** Whether nothing of it lands any more, nor is read. */
        boolean hasEnded() {
            return !givenUp && completed.getAsBoolean();
        }

        private void giveUp(UcxException cause) {
            givenUp = true;
            allClosed = false;
            LOG.warn("An endpoint was not closed: endpoint={}", endpoint, cause);
        }
    }
}
