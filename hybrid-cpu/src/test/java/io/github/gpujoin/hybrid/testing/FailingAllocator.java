// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.Region;

/** Refuses one allocation and grants all others. */
public final class FailingAllocator implements Allocator {

    private final Allocator inner;
    private final int failing;
    private int allocations;

    /**
     * @param failing number of the allocation to refuse, from 1; 0 for none
     */
    public FailingAllocator(Allocator inner, int failing) {
        this.inner = inner;
        this.failing = failing;
    }

    public boolean hasFailed() {
        return failing > 0 && allocations >= failing;
    }

    @Override
    public Region allocate(long lengthBytes) {
        if (++allocations == failing) {
            return new MemoryAccount("failing").within(0).allocate(Math.max(1, lengthBytes));
        }
        return inner.allocate(lengthBytes);
    }

    @Override
    public long availableBytes() {
        return inner.availableBytes();
    }
}
