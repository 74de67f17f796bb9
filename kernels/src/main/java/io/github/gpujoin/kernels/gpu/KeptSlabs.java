// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pinned memory that ended bulk joins leave to the next ones, because pinning costs more time than
 * the bus needs for the same bytes. Nobody's account has these bytes. Memory is freed while the
 * serving kernel is stopped. Thread-safe.
 */
final class KeptSlabs {

    /** Pinned memory, pages of which threads have touched. */
    record Slab(long address, long lengthBytes) {}

    private final CudaDriver driver;

    /** Those that were kept longest are first. */
    private final List<Slab> slabs = new ArrayList<>();

    private long keptBytes;

    KeptSlabs(CudaDriver driver) {
        this.driver = driver;
    }

    synchronized long keptBytes() {
        return keptBytes;
    }

    /** Returns the shortest slab of at least a length, unless more than half of it is unused. */
    synchronized @Nullable Slab remove(long lengthBytes) {
        Slab best = null;
        for (Slab slab : slabs) {
            boolean fits =
                    slab.lengthBytes() >= lengthBytes && slab.lengthBytes() <= 2 * lengthBytes;
            if (fits && (best == null || slab.lengthBytes() < best.lengthBytes())) {
                best = slab;
            }
        }
        if (best != null) {
            slabs.remove(best);
            keptBytes -= best.lengthBytes();
        }
        return best;
    }

    /**
     * Keeps a slab, and frees others beyond the limit, or the slab itself.
     *
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if the driver fails; no
     *     slab is freed twice
     */
    synchronized void keep(Slab slab, long limitBytes) {
        slabs.add(slab);
        keptBytes += slab.lengthBytes();
        freeBeyond(limitBytes);
    }

    /** Frees slabs until at most these bytes are kept. */
    synchronized void freeBeyond(long limitBytes) {
        while (keptBytes > limitBytes) {
            Slab oldest = slabs.remove(0);
            keptBytes -= oldest.lengthBytes();
            driver.freePinned(oldest.address());
        }
    }
}
