// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Distributes the segments of one engine over the devices of its group, and returns their results
 * in the order of the segments. A segment goes to the device with the fewest segments in flight.
 * Not thread-safe.
 */
final class SegmentDispatcher {

    private final List<EngineMember> members;

    /** The member of each segment in flight, oldest first; unused with one member. */
    private final ArrayDeque<EngineMember> order = new ArrayDeque<>();

    /**
     * @param members whose segments only this object adds and polls
     */
    SegmentDispatcher(List<EngineMember> members) {
        this.members = List.copyOf(members);
    }

    /** Adds segments of the chunks, in their order, while a device has room. */
    void cut(Iterable<SegmentCutter.Probe> chunks) {
        for (SegmentCutter.Probe probe : chunks) {
            while (!probe.isCut()) {
                EngineMember member = leastLoaded();
                if (member == null) {
                    return;
                }
                member.cutter().addSegment(probe);
                if (members.size() > 1) {
                    order.add(member);
                }
            }
        }
    }

    /** Returns the member with the fewest segments in flight, or null if all are full. */
    private @Nullable EngineMember leastLoaded() {
        EngineMember least = null;
        for (EngineMember member : members) {
            if (member.pipe().hasRoom()
                    && (least == null
                            || member.pipe().inFlightCount() < least.pipe().inFlightCount())) {
                least = member;
            }
        }
        return least;
    }

    /** Releases the buffer of the last batch, and the slot if its segment is finished. */
    void releaseBatch() {
        members.forEach(member -> member.pipe().releaseBatch());
    }

    /**
     * Returns the next results, valid until the next call of {@link #releaseBatch}; null if none
     * are ready.
     *
     * @throws GpuUnavailableException if a kernel has stalled or ended
     */
    @Nullable ResultBatch poll() {
        if (members.size() == 1) {
            return members.get(0).pipe().poll();
        }
        EngineMember head = order.peek();
        if (head == null) {
            return null;
        }
        for (EngineMember member : members) {
            if (member != head) {
                member.pipe().advance();
            }
        }
        ResultBatch batch = head.pipe().poll();
        if (head.pipe().isHeadEmitted()) {
            order.remove();
        }
        return batch;
    }

    /** Returns whether a device stopped because its table of groups is full. */
    boolean groupsFull() {
        return members.stream().anyMatch(member -> member.pipe().groupsFull());
    }

    /** Continues all segments that stopped because a table of groups was full. */
    void resumeAfterDrain() {
        members.forEach(member -> member.pipe().resumeAfterDrain());
    }

    /** Returns the device time of all completed steps, summed over blocks. */
    long deviceBusyNs() {
        return members.stream().mapToLong(member -> member.pipe().deviceBusyNs()).sum();
    }

    /** Returns the bytes that were copied to slots. Thread-safe. */
    long copiedBytes() {
        return members.stream().mapToLong(member -> member.pipe().copiedBytes()).sum();
    }

    /**
     * Waits until no device uses the slots of the engine.
     *
     * @throws GpuUnavailableException if a device fails, after the others were awaited
     */
    void awaitSteps() {
        Closing.all(members, EngineMember::awaitSteps);
    }

    /** Releases all chunks, even if the release of one fails. */
    void releaseChunks() {
        Closing.all(members, member -> member.pipe().releaseChunks());
    }
}
