// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import io.github.gpujoin.rdma.verbs.Registration;
import java.io.IOException;

/** A registered region of host memory. */
final class DisniRegistration implements Registration {

    private final IbvMr region;
    private final long lengthBytes;

    DisniRegistration(IbvMr region, long lengthBytes) {
        this.region = region;
        this.lengthBytes = lengthBytes;
    }

    @Override
    public long address() {
        return region.getAddr();
    }

    @Override
    public long lengthBytes() {
        return lengthBytes;
    }

    @Override
    public int localKey() {
        return region.getLkey();
    }

    @Override
    public int remoteKey() {
        return region.getRkey();
    }

    @Override
    public synchronized void close() throws IOException {
        if (region.isOpen()) {
            region.deregMr().execute().free();
        }
    }
}
