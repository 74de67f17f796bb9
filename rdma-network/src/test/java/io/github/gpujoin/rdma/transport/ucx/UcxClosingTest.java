package io.github.gpujoin.rdma.transport.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Region;
import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpRequest;

/** Endpoints of both ends, over TCP, that take as long to close as the test wants. */
@EnabledIfUcx
@Timeout(60)
class UcxClosingTest {

    private static final int TARGET_BYTES = 4096;
    private static final long NEVER_NS = Long.MAX_VALUE;

    private final long openBefore = Region.openCount();
    private final AtomicBoolean mayClose = new AtomicBoolean();
    private final UcxOptions options =
            new UcxOptions(InetAddress.getLoopbackAddress(), UcxOptions.TCP);
    private UcxSource source;
    private UcpContext context;
    private UcxEndpoints usual;
    private UcxAcceptor acceptor;
    private UcxTarget target;
    private UcxConnection connection;

    @BeforeEach
    void openContext() throws Exception {
        source = new UcxSource(Region.allocateZeroed(TARGET_BYTES));
        context = UcxLibrary.open(options);
        usual = new UcxEndpoints(options);
    }

    @AfterEach
    void closeContext() {
        // With endpoints left, UCX would end the process.
        if (mayClose.get()) {
            acceptor.close();
            context.close();
            source.close();
            assertThat(Region.openCount()).isEqualTo(openBefore);
        }
    }

    private void connect(UcxEndpoints readers, UcxEndpoints writers) throws Exception {
        acceptor = new UcxAcceptor(context, readers, options.address());
        target = acceptor.register(TARGET_BYTES);
        connection =
                UcxConnection.open(
                        context, writers, UcxDescriptor.decode(target.descriptor()), source);
        while (!connection.isConnected() || !connection.isIdle()) {
            connection.poll();
            LockSupport.parkNanos(1);
        }
    }

    /** Endpoints of which UCX says that they have ended once the test lets it. */
    private UcxEndpoints slow(long timeoutNs) {
        return new UcxEndpoints(
                options,
                endpoint -> {
                    UcpRequest closing = endpoint.closeNonBlockingForce();
                    return () -> mayClose.get() && closing.isCompleted();
                },
                timeoutNs);
    }

    @Test
    void shouldNotWaitForAConnectionThatUcxDoesNotEnd() throws Exception {
        UcxEndpoints slow = slow(NEVER_NS);
        connect(usual, slow);
        connection.close();
        source.close();
        assertThat(connection.isClosed()).as("its endpoint is still there").isFalse();
        assertThat(source.isClosed()).as("the connection may still read it").isFalse();
        assertThat(Region.openCount()).isEqualTo(openBefore + 1);

        mayClose.set(true);
        connection.awaitEnd();
        assertThat(connection.isClosed()).isTrue();
        assertThat(source.isClosed()).isTrue();
        assertThat(slow.areAllClosed()).isTrue();
        target.close();
        target.awaitEnd();
    }

    @Test
    void shouldNotWaitForATargetsWriterThatUcxDoesNotEnd() throws Exception {
        UcxEndpoints slow = slow(NEVER_NS);
        connect(slow, usual);
        target.close();
        assertThat(target.isClosed()).as("its writer's endpoint is still there").isFalse();
        assertThat(target.memory().getNativeId()).as("may still be written").isNotNull();

        UcxTarget other = acceptor.register(TARGET_BYTES);
        other.close();
        assertThat(other.isClosed()).as("one that no writer came to").isTrue();

        mayClose.set(true);
        target.awaitEnd();
        assertThat(target.memory().getNativeId()).isNull();
        assertThat(slow.areAllClosed()).isTrue();
        connection.close();
        connection.awaitEnd();
    }

    @Test
    void shouldEndATargetsWriterThoughNobodyWaitsForIt() throws Exception {
        connect(slow(NEVER_NS), usual);
        target.close();
        mayClose.set(true);
        while (!target.isClosed()) {
            LockSupport.parkNanos(1);
        }
        connection.close();
        connection.awaitEnd();
    }

    @Test
    void shouldKeepTheMemoryOfWhatUcxDoesNotEndInTime() throws Exception {
        UcxEndpoints slow = slow(1);
        connect(slow, slow);
        connection.close();
        target.close();
        source.close();
        connection.awaitEnd();
        target.awaitEnd();
        assertThat(connection.isClosed()).isTrue();
        assertThat(target.isClosed()).isTrue();
        assertThat(slow.areAllClosed()).isFalse();
        assertThat(source.isClosed()).isFalse();
        assertThat(target.memory().getNativeId()).isNotNull();
    }
}
