// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.disni.testing;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.ring.DeviceRing;
import io.github.gpujoin.rdma.transport.disni.GpuTargets;
import java.util.function.Consumer;

/**
 * Rings in host memory that simulates a GPU's: they are read through copies only. Records the calls
 * {@code allocate}, {@code read}, {@code free} and {@code close}.
 */
public final class CopiedRings implements GpuTargets.Rings {

    private static final int PAGE_BYTES = 4096;

    private final int slotBytes;
    private final Consumer<String> done;

    public CopiedRings(int slotBytes, Consumer<String> done) {
        this.slotBytes = slotBytes;
        this.done = done;
    }

    @Override
    public DeviceRing allocate(long lengthBytes) {
        done.accept("allocate");
        Region memory = Region.allocateZeroed(lengthBytes + PAGE_BYTES);
        Region window = Region.allocate(slotBytes);
        long address = (memory.address() + PAGE_BYTES - 1) & -PAGE_BYTES;
        return new DeviceRing() {
            @Override
            public long address() {
                return address;
            }

            @Override
            public long lengthBytes() {
                return lengthBytes;
            }

            @Override
            public long at(long offsetBytes, int shownBytes) {
                done.accept("read");
                Memory.copy(null, address + offsetBytes, null, window.address(), shownBytes);
                return window.address();
            }

            @Override
            public void close() {
                done.accept("free");
                memory.close();
                window.close();
            }
        };
    }

    @Override
    public void close() {
        done.accept("close");
    }
}
