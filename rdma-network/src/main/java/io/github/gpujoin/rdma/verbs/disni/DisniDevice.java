// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatObject;
import io.github.gpujoin.rdma.verbs.GpuMemory;
import io.github.gpujoin.rdma.verbs.QueuePair;
import io.github.gpujoin.rdma.verbs.RdmaHost;
import io.github.gpujoin.rdma.verbs.Registration;
import io.github.gpujoin.rdma.verbs.RemoteAccess;
import io.github.gpujoin.rdma.verbs.VerbsDevice;
import io.github.gpujoin.rdma.verbs.VerbsException;
import io.github.gpujoin.rdma.verbs.VerbsFailure;
import io.github.gpujoin.rdma.verbs.VerbsListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** The device of a local address, found by binding a connection identifier to the address. */
public final class DisniDevice implements VerbsDevice {

    private final Teardown teardown = new Teardown();
    private final InetAddress localAddress;
    private final IbvContext context;
    private final IbvPd protectionDomain;

    /**
     * Opens the device.
     *
     * @throws VerbsException {@link VerbsFailure#NO_ROUTE} if no device has the address
     */
    public DisniDevice(InetAddress localAddress) throws IOException {
        this.localAddress = localAddress;
        try {
            CmEvents events = new CmEvents();
            teardown.add(events::close);
            RdmaCmId id = events.createId();
            teardown.add(() -> Teardown.check("rdma_destroy_id", id.destroyId()));
            context = bind(id, localAddress);
            protectionDomain = context.allocPd();
            teardown.add(this::freeProtectionDomain);
        } catch (IOException e) {
            throw teardown.closeAfter(e);
        }
    }

    private static IbvContext bind(RdmaCmId id, InetAddress address) throws IOException {
        IOException cause = null;
        try {
            id.bindAddr(new InetSocketAddress(address, 0));
        } catch (IOException e) {
            cause = e;
        }
        IbvContext context = cause == null ? id.getVerbs() : null;
        if (context == null) {
            throw new VerbsException(
                    VerbsFailure.NO_ROUTE,
                    "No RDMA device has the local address: address=%s, cause=%s. List devices and interfaces with: rdma link"
                            .formatted(
                                    address.getHostAddress(),
                                    cause == null ? "no device" : cause.getMessage()),
                    cause);
        }
        return context;
    }

    private void freeProtectionDomain() throws IOException {
        try {
            Teardown.check("ibv_dealloc_pd", protectionDomain.deallocPd());
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    @Override
    public Registration register(long address, long lengthBytes, RemoteAccess access)
            throws IOException {
        if (lengthBytes < 1 || lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "Cannot register memory: lengthBytes="
                            + lengthBytes
                            + ". Use 1 byte to 2 GiB - 1.");
        }
        RdmaHost host = RdmaHost.local();
        host.requireLockable(lengthBytes);
        int flags =
                access == RemoteAccess.WRITE
                        ? IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE
                        : 0;
        try {
            IbvMr region =
                    protectionDomain
                            .regMr(address, (int) lengthBytes, flags)
                            .execute()
                            .free()
                            .getMr();
            return new DisniRegistration(region, lengthBytes);
        } catch (IOException e) {
            if (e.getMessage().contains("errno=12 ")) {
                throw host.lockedMemory(lengthBytes, e);
            }
            throw e;
        }
    }

    @Override
    public Registration register(GpuMemory memory, RemoteAccess access) throws IOException {
        return GpuRegions.register(((NatObject) protectionDomain).getObjId(), memory, access);
    }

    @Override
    public void flushGpuWrites(long address) throws IOException {
        GpuRegions.flush(address);
    }

    @Override
    public VerbsListener listen(int port, int queueDepth) throws IOException {
        return new DisniListener(
                protectionDomain, new InetSocketAddress(localAddress, port), queueDepth);
    }

    @Override
    public QueuePair connect(InetSocketAddress peer, int queueDepth, Duration timeout)
            throws IOException {
        return DisniConnector.connect(protectionDomain, localAddress, peer, queueDepth, timeout);
    }

    @Override
    public void close() throws IOException {
        teardown.close();
    }
}
