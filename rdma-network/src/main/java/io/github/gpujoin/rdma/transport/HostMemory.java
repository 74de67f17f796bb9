// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.region.Region;

/** Host memory of this process, allocated by a transport. */
public final class HostMemory implements RegisteredMemory, OwnedResources.Item {

    private final Region region;
    private volatile boolean closed;

    /**
     * @param region closed with this memory
     */
    public HostMemory(Region region) {
        this.region = region;
    }

    @Override
    public long address() {
        return region.address();
    }

    @Override
    public long lengthBytes() {
        return region.lengthBytes();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
        region.close();
    }
}
