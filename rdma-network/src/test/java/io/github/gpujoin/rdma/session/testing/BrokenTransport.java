// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session.testing;

import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.TransportException;

/**
 * A transport between hosts with working control connections and a broken data network.
 *
 * @param memory registers sources
 */
public record BrokenTransport(OneSidedTransport memory) implements OneSidedTransport {

    @Override
    public String name() {
        return "broken";
    }

    @Override
    public Target registerTarget(long lengthBytes) {
        throw new IllegalStateException("no target, as the test demands");
    }

    @Override
    public RegisteredMemory registerSource(long lengthBytes) throws TransportException {
        return memory.registerSource(lengthBytes);
    }

    @Override
    public Connection connect(byte[] descriptor, RegisteredMemory source) {
        return new Connection() {
            @Override
            public boolean isConnected() {
                return false;
            }

            @Override
            public boolean write(long sourceOffset, long targetOffset, int lengthBytes) {
                return false;
            }

            @Override
            public void flush() {}

            @Override
            public void poll() throws TransportException {
                throw new TransportException("reader unreachable, as the test demands");
            }

            @Override
            public boolean isIdle() {
                return true;
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public void close() {}
}
