package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import io.github.gpujoin.rdma.transport.ucx.UcxOptions;
import io.github.gpujoin.rdma.transport.ucx.UcxTransport;
import java.net.InetAddress;
import java.util.Locale;

/** The transports of sessions between two processes of this host. */
public enum SessionTransport {
    /** The writer fills the reader's slots. */
    SHM {
        @Override
        Transport open() throws TransportException {
            return new ShmTransport(ShmTransport.DEFAULT_DIRECTORY);
        }
    },
    /** UCX copies slots from the writer's image into memory that both share. */
    UCX_SHM {
        @Override
        Transport open() throws TransportException {
            return ucx(UcxOptions.SHARED_MEMORY);
        }
    },
    /** UCX sends slots from the writer's image over loopback. */
    UCX_TCP {
        @Override
        Transport open() throws TransportException {
            return ucx(UcxOptions.TCP);
        }
    };

    /** As options and reports name it: {@code ucx-tcp}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * @throws TransportException where this host lacks what the transport needs; says what to do
     */
    public void requireInstalled() throws TransportException {
        open().close();
    }

    abstract Transport open() throws TransportException;

    private static Transport ucx(String transports) throws TransportException {
        return new UcxTransport(new UcxOptions(InetAddress.getLoopbackAddress(), transports));
    }
}
