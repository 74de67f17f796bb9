// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.Locale;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;

/**
 * Metrics of the shared rings of one sending subtask. The mailbox thread counts; other threads may
 * read old counts.
 */
final class SharedRingMetrics {

    private final Counter slots = new SimpleCounter();
    private final Counter chunks = new SimpleCounter();
    private final Counter bytes = new SimpleCounter();

    /**
     * Counts a slot.
     *
     * @param lengthBytes of its chunks and the gaps between them
     */
    void sent(int chunkCount, int lengthBytes) {
        slots.inc();
        chunks.inc(chunkCount);
        bytes.inc(lengthBytes);
    }

    /** Count of slots that were sent. */
    long slotCount() {
        return slots.getCount();
    }

    /** Count of chunks in them. */
    long chunkCount() {
        return chunks.getCount();
    }

    /**
     * Registers the metrics.
     *
     * <ul>
     *   <li>{@code sharedRings}: rings to TaskManagers
     *   <li>{@code channelsSharingRings}: subtasks of the join whose chunks go through them now
     *   <li>{@code slotsOfSharedRings}, {@code chunksThroughSharedRings}: how many were sent
     *   <li>{@code chunksPerSlot}, {@code bytesPerSlot}: means over all slots sent
     *   <li>{@code slotFill}: {@code bytesPerSlot} over the length of a slot, from 0 to 1
     * </ul>
     *
     * @param slotBytes length of a slot
     */
    void register(MetricGroup metrics, RingSender rings, int slotBytes) {
        metrics.counter("slotsOfSharedRings", slots);
        metrics.counter("chunksThroughSharedRings", chunks);
        metrics.gauge("sharedRings", rings::sharedRings);
        metrics.gauge("channelsSharingRings", rings::channelsThatShare);
        metrics.gauge("chunksPerSlot", () -> perSlot(chunks));
        metrics.gauge("bytesPerSlot", this::bytesPerSlot);
        metrics.gauge("slotFill", () -> bytesPerSlot() / slotBytes);
    }

    /** Mean bytes of a slot; 0 before the first. */
    double bytesPerSlot() {
        return perSlot(bytes);
    }

    /** Returns the counts for the log. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "slotsOfSharedRings=%d, chunksPerSlot=%.1f",
                slots.getCount(),
                perSlot(chunks));
    }

    private double perSlot(Counter amount) {
        return slots.getCount() == 0 ? 0 : (double) amount.getCount() / slots.getCount();
    }
}
