package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.ControlLink;
import io.github.gpujoin.rdma.session.ControlServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;

/** What the rings of a subtask need of their process: control connections, and a thread. */
public interface RingHost {

    /**
     * Listens for control connections, on a free port.
     *
     * @param address the only one to listen on
     * @throws IOException where the address cannot be had
     */
    ControlServer listen(InetAddress address) throws IOException;

    /** Connects to what another subtask listens on. */
    ControlLink.Dialer dialer(InetSocketAddress server);

    /**
     * Does something often, far more so than a heartbeat is due, beside the mailbox.
     *
     * @param name for people
     * @param failed told what a round throws; the next one is done all the same
     * @return ends it; returns once no round is under way, and none comes any more
     */
    AutoCloseable repeat(String name, Runnable round, Consumer<Throwable> failed);

    /**
     * A process of the operating system: sockets over TCP, safe as the configuration asks, and a
     * thread for each subtask.
     *
     * @param taskManager configuration of the process
     */
    static RingHost process(Configuration taskManager) {
        return new ProcessHost(taskManager);
    }
}
