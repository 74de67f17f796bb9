// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Region;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads spilled tuples for one thread: those of a build side together, which stay while the
 * partition is joined, and those of a probe side one segment after another. Not thread-safe.
 */
final class SegmentReader implements AutoCloseable {

    private final Region build;
    private final Region probe;

    /** Tuples that lie one after another. */
    private record Extent(long address, int count) {}

    SegmentReader(LargestBuild largest, Allocator allocator) {
        this.build = allocator.allocate(largest.spilledBytes());
        try {
            this.probe = allocator.allocate(largest.segmentBytes());
        } catch (Throwable e) {
            build.close();
            throw e;
        }
    }

    long lengthBytes() {
        return build.lengthBytes() + probe.lengthBytes();
    }

    /** Returns the tuples of a build side, all in memory until the next call. */
    PartitionTable.Extents load(List<PartitionStore> stores, int partition)
            throws InterruptedException {
        List<Extent> loaded = new ArrayList<>();
        long next = build.address();
        for (PartitionStore store : stores) {
            for (SpillFile.Segment segment : store.segments(partition)) {
                segment.read(next);
                loaded.add(new Extent(next, segment.count()));
                next += segment.lengthBytes();
            }
        }
        return visitor -> {
            for (PartitionStore store : stores) {
                store.forEachExtent(partition, visitor);
            }
            for (Extent extent : loaded) {
                visitor.visit(extent.address, extent.count);
            }
        };
    }

    /** Reads a segment, which the next call overwrites, and returns its address. */
    long read(SpillFile.Segment segment) throws InterruptedException {
        segment.read(probe.address());
        return probe.address();
    }

    @Override
    public void close() {
        build.close();
        probe.close();
    }
}
