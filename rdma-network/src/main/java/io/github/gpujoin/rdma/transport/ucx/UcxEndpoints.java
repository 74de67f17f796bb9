package io.github.gpujoin.rdma.transport.ucx;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
    private static final long IDLE_NS = 20_000;

    private final UcxOptions options;
    private volatile boolean allClosed = true;

    UcxEndpoints(UcxOptions options) {
        this.options = options;
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
     * Gives up what is under way; nothing of it lands after that. Writes to shared memory are never
     * under way, and UCX forces no endpoint there.
     *
     * @param worker of the endpoint, used by this thread alone now
     * @return false, and a line in the log, where UCX did not end it in time
     */
    boolean close(UcpWorker worker, UcpEndpoint endpoint) {
        try {
            UcpRequest request =
                    options.isSharedMemory()
                            ? endpoint.closeNonBlockingFlush()
                            : endpoint.closeNonBlockingForce();
            if (await(worker, request, CLOSE_TIMEOUT_NS)) {
                return true;
            }
            LOG.warn("An endpoint was not closed in time: endpoint={}", endpoint);
        } catch (UcxException e) {
            // any other status is the connection's, which had failed: the endpoint is gone
            if (e.getStatus() != UcsConstants.STATUS.UCS_ERR_INVALID_PARAM) {
                return true;
            }
            LOG.warn("An endpoint was not closed: endpoint={}", endpoint, e);
        }
        allClosed = false;
        return false;
    }

    /** Whether the context may be closed: with endpoints left, UCX would end the process. */
    boolean areAllClosed() {
        return allClosed;
    }

    /**
     * @return whether the request completed in time
     */
    static boolean await(UcpWorker worker, UcpRequest request, long timeoutNs) {
        long startNs = System.nanoTime();
        while (!request.isCompleted()) {
            if (progress(worker) == 0) {
                if (System.nanoTime() - startNs > timeoutNs) {
                    return false;
                }
                LockSupport.parkNanos(IDLE_NS);
            }
        }
        return true;
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
}
