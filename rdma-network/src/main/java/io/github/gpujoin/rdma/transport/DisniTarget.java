package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.RemoteRights;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;

/** Registered memory with the acceptor of the queue pairs that write it. */
final class DisniTarget implements Target, GivenOut.Item {

    private final DisniMemory memory;
    private final DisniAcceptor acceptor;

    private DisniTarget(DisniMemory memory, DisniAcceptor acceptor) {
        this.memory = memory;
        this.acceptor = acceptor;
    }

    static DisniTarget register(VerbsDevice device, long lengthBytes) throws IOException {
        return accept(device, DisniMemory.register(device, lengthBytes, RemoteRights.WRITE));
    }

    static DisniTarget register(VerbsDevice device, GpuMemory gpuMemory) throws IOException {
        return accept(device, DisniMemory.register(device, gpuMemory, RemoteRights.WRITE));
    }

    private static DisniTarget accept(VerbsDevice device, DisniMemory memory) throws IOException {
        try {
            return new DisniTarget(memory, new DisniAcceptor(device.listen(0, 1)));
        } catch (IOException | RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    @Override
    public long address() {
        return memory.address();
    }

    @Override
    public long lengthBytes() {
        return memory.lengthBytes();
    }

    @Override
    public byte[] descriptor() {
        return new DisniDescriptor(
                        acceptor.address(),
                        memory.registration().remoteKey(),
                        memory.address(),
                        memory.lengthBytes())
                .encode();
    }

    @Override
    public boolean isClosed() {
        return memory.isClosed();
    }

    /** Revokes the key first: what arrives after that finds none. */
    @Override
    public void close() {
        memory.close();
        acceptor.close();
    }
}
