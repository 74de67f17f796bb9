// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.thread.UninterruptibleWait;
import io.github.gpujoin.rdma.session.ControlLink;
import io.github.gpujoin.rdma.session.ControlServer;
import io.github.gpujoin.rdma.session.TcpControlLink;
import io.github.gpujoin.rdma.session.TcpControlServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;

/**
 * The sockets and threads of this process.
 *
 * @param taskManager configuration of the process
 */
record ProcessHost(Configuration taskManager) implements RingHost {

    /**
     * Pause between two rounds. Far below the heartbeat interval, since handshakes also wait for
     * it.
     */
    private static final long IDLE_NS = 2_000_000;

    @Override
    public ControlServer listen(InetAddress address) throws IOException {
        return new TcpControlServer(
                new InetSocketAddress(address, 0),
                RingSecurity.controlSockets(taskManager, address));
    }

    @Override
    public ControlLink.Dialer dialer(InetSocketAddress server) {
        return TcpControlLink.dialer(
                server, RingSecurity.controlSockets(taskManager, server.getAddress()));
    }

    @Override
    public AutoCloseable repeat(String name, Runnable round, Consumer<Throwable> failed) {
        Rounds rounds = new Rounds(name, round, failed);
        rounds.thread.start();
        return rounds;
    }

    private static final class Rounds implements AutoCloseable {

        private final Runnable round;
        private final Consumer<Throwable> failed;
        private final Thread thread;
        private volatile boolean isStopped;

        Rounds(String name, Runnable round, Consumer<Throwable> failed) {
            this.round = round;
            this.failed = failed;
            this.thread = new Thread(this::run, name);
            thread.setDaemon(true);
        }

        private void run() {
            while (!isStopped) {
                try {
                    round.run();
                    LockSupport.parkNanos(IDLE_NS);
                } catch (RuntimeException | Error e) {
                    failed.accept(
                            e); // Includes the InternalError of a memory fault, which any later
                    // call can throw.
                }
            }
        }

        @Override
        public void close() {
            isStopped = true;
            LockSupport.unpark(thread);
            // The caller closes the resources of the thread next, so the wait ignores interrupts.
            UninterruptibleWait.join(thread);
        }
    }
}
