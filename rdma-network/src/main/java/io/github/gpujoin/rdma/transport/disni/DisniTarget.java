// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.core.ring.RingView;
import io.github.gpujoin.rdma.transport.OwnedResources;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.verbs.RemoteAccess;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A target over verbs: registered memory, and the acceptor of the queue pairs that write it. */
final class DisniTarget implements Target, OwnedResources.Item {

    private final DisniMemory memory;
    private final DisniAcceptor acceptor;

    private final RingView view;

    private DisniTarget(DisniMemory memory, DisniAcceptor acceptor, RingView view) {
        this.memory = memory;
        this.acceptor = acceptor;
        this.view = view;
    }

    static DisniTarget register(VerbsDevice device, long lengthBytes) throws IOException {
        DisniMemory memory = DisniMemory.register(device, lengthBytes, RemoteAccess.WRITE);
        return accept(device, memory, RingView.inPlace(memory.address()));
    }

    static DisniTarget register(VerbsDevice device, GpuTargets gpu, long lengthBytes)
            throws IOException {
        DeviceRing ring = gpu.rings().allocate(lengthBytes);
        DisniMemory memory = DisniMemory.register(device, ring, gpu.method(), RemoteAccess.WRITE);
        return accept(device, memory, gpu.view(device, ring));
    }

    private static DisniTarget accept(VerbsDevice device, DisniMemory memory, RingView view)
            throws IOException {
        try {
            return new DisniTarget(memory, new DisniAcceptor(device.listen(0, 1)), view);
        } catch (IOException | RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    @Override
    public RingView view() {
        return view;
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
    public @Nullable Region region() {
        return memory.region();
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
        return memory.isClosed() && acceptor.hasEnded();
    }

    /**
     * Revokes the key first, so that later writes fail. The acceptor's thread closes the queue
     * pairs, which can no longer write: a caller that drives many sessions must not block.
     */
    @Override
    public void close() {
        memory.close();
        acceptor.close();
    }

    @Override
    public void awaitEnd() {
        acceptor.awaitEnd();
    }
}
