package io.github.gpujoin.rdma.transport.ucx;

import io.github.gpujoin.rdma.transport.TransportException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * How UCX reaches peers.
 *
 * @param address of this host: the only one that is listened on
 * @param transports names of UCX's own transports, separated by commas, as its variable UCX_TLS
 *     takes them: {@code tcp}, {@code shm}, {@code rc}, ... ({@code ucx_info -d} lists those of a
 *     host)
 */
public record UcxOptions(InetAddress address, String transports) {

    /** Any two hosts. */
    public static final String TCP = "tcp";

    /** Processes of one host; without cma, which needs the right to trace other processes. */
    public static final String SHARED_MEMORY = "posix,sysv";

    private static final Pattern LIST = Pattern.compile("[a-z0-9_]+(,[a-z0-9_]+)*");

    /** UCX's names of transports in which a peer must be on this host. */
    private static final Set<String> SHARED_MEMORY_NAMES =
            Set.of("shm", "sm", "mm", "posix", "sysv", "xpmem", "cma", "knem");

    /**
     * @throws IllegalArgumentException where the list is none
     */
    public UcxOptions {
        if (!LIST.matcher(transports).matches()) {
            throw new IllegalArgumentException(
                    "UCX's transports are names separated by commas: transports=" + transports);
        }
    }

    /**
     * Whether peers are on this host. UCX's shared memory cannot tell that a peer died, and is left
     * out where that is asked for; the session's control connection tells.
     */
    boolean isSharedMemory() {
        return Arrays.stream(transports.split(",")).anyMatch(SHARED_MEMORY_NAMES::contains);
    }

    /** For UCX_TLS; processes of one host greet each other by TCP, too. */
    String tls() {
        return isSharedMemory() ? transports + ',' + TCP : transports;
    }

    /** Devices of the address alone: UCX listens on each that it uses. */
    String netDevices() throws TransportException {
        return NetDevices.local().of(address);
    }
}
