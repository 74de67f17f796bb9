// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Device memory for the inputs of one step of a join. Not thread-safe. */
final class StepBuffer {

    private final BulkDevice device;
    private final RunStore store;
    private final Map<JoinSide, BulkRunLayout> layouts;
    private final long address;
    private final Map<JoinSide, BulkRows> rows = new EnumMap<>(JoinSide.class);
    private long lastCopy = RunSink.NO_COPY;

    /**
     * @param lengthBytes maximum of {@link #lengthBytes} of the steps
     */
    StepBuffer(
            BulkDevice device,
            BulkAllocator memory,
            RunStore store,
            Map<JoinSide, BulkRunLayout> layouts,
            long lengthBytes) {
        this.device = device;
        this.store = store;
        this.layouts = layouts;
        this.address = memory.allocate(lengthBytes);
    }

    static long lengthBytes(Map<JoinSide, BulkRunLayout> layouts, OutOfCorePlan.Step step) {
        long bytes = 0;
        for (JoinSide side : JoinSide.values()) {
            int runs = step.tables().get(side).size();
            bytes += BulkArena.alignedBytes((long) Long.BYTES * runs);
            bytes += (long) runs * layouts.get(side).lengthBytes();
        }
        return bytes;
    }

    /** Starts to copy the inputs of a step; no kernel uses those of the step before any more. */
    void load(OutOfCorePlan.Step step) throws InterruptedException {
        device.awaitCopy(lastCopy);
        long target = address;
        for (JoinSide side : JoinSide.values()) {
            List<StoredRun> runs = step.tables().get(side);
            rows.put(side, new BulkRows(layouts.get(side), target, step.rows(side)));
            target = load(runs, target, layouts.get(side).lengthBytes());
        }
    }

    /** Loads the addresses of runs, and the runs behind them; returns their end. */
    private long load(List<StoredRun> runs, long start, int runBytes) throws InterruptedException {
        if (runs.isEmpty()) {
            return start;
        }
        long tableBytes = (long) Long.BYTES * runs.size();
        long first = start + BulkArena.alignedBytes(tableBytes);
        lastCopy = store.startCopies(runs, first, runBytes);
        try (Region addresses = Region.allocate(tableBytes)) {
            for (int i = 0; i < runs.size(); i++) {
                Memory.putLong(
                        addresses.address() + (long) Long.BYTES * i, first + (long) i * runBytes);
            }
            device.copyToDevice(start, addresses);
        }
        return first + (long) runs.size() * runBytes;
    }

    /** Waits until the inputs are complete, and returns them. */
    Map<JoinSide, BulkRows> rows() throws InterruptedException {
        device.awaitCopy(lastCopy);
        return rows;
    }
}
