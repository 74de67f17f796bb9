// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.ProbeQueue;
import io.github.gpujoin.core.layout.ChunkSlot;
import java.util.function.BooleanSupplier;

/**
 * Cuts queued chunks into segments of a pipe: copies of rows, or rows that the kernel reads in the
 * slot of their chunk. Not thread-safe.
 */
final class SegmentCutter {

    private final SegmentPipe pipe;
    private final SegmentSizer sizer;
    private final HostRegistrations registrations;
    private final FactSegments facts;
    private final long segmentBytes;
    private final boolean readsInPlace;
    private final BooleanSupplier decodes;
    private final long stallTimeoutNs;

    /** An in-flight chunk, and how far it is cut into segments. */
    static final class Probe extends ProbeQueue.Probe {

        private int nextRow;

        Probe(InFlightProbe pending) {
            super(pending);
            this.nextRow = firstRow();
        }

        boolean isCut() {
            return nextRow == chunk().rowCount();
        }
    }

    /**
     * @param pipe which must have room whenever a segment is added
     * @param sizer of segments
     * @param segmentBytes of the longest segment
     * @param readsInPlace whether the kernel can read chunks in slots
     * @param decodes whether the kernel can decode columns; called when a chunk is encoded
     */
    SegmentCutter(
            SegmentPipe pipe,
            SegmentSizer sizer,
            HostRegistrations registrations,
            FactSegments facts,
            long segmentBytes,
            boolean readsInPlace,
            BooleanSupplier decodes,
            long stallTimeoutNs) {
        this.pipe = pipe;
        this.sizer = sizer;
        this.registrations = registrations;
        this.facts = facts;
        this.segmentBytes = segmentBytes;
        this.readsInPlace = readsInPlace;
        this.decodes = decodes;
        this.stallTimeoutNs = stallTimeoutNs;
    }

    /**
     * Adds a segment with the next rows of a chunk.
     *
     * @param probe not cut to its end
     */
    void addSegment(Probe probe) {
        if (addEncoded(probe) || addPlainInPlace(probe)) {
            return;
        }
        int left = probe.chunk().rowCount() - probe.nextRow;
        int rows = Math.min(sizer.rows(), left);
        pipe.add(probe.chunk(), probe.nextRow, rows);
        probe.nextRow += rows;
    }

    /** Returns false if the next rows must be copied. */
    private boolean addPlainInPlace(Probe probe) {
        int rows = rowsInPlace(probe);
        return rows > 0 && addInPlace(probe, rows);
    }

    /**
     * Adds all rows of an encoded chunk as they are, in place or copied, if their results are
     * expected to fit the buffers of one segment.
     *
     * @return false if the chunk is not encoded, or must be decoded
     */
    private boolean addEncoded(Probe probe) {
        if (!(probe.chunk() instanceof EncodedChunk chunk)
                || probe.nextRow > 0
                || chunk.rowCount() > SegmentSlots.RESULT_BUFFERS * sizer.rows()
                || facts.encodedBytes(chunk) > segmentBytes
                || !decodes.getAsBoolean()) {
            return false;
        }
        boolean isReadable = chunk.slot() != null && readsInPlace && !chunk.hasManyPartitions();
        if (!isReadable || !addInPlace(probe, chunk.rowCount())) {
            pipe.addEncoded(chunk);
            probe.nextRow = chunk.rowCount();
        }
        return true;
    }

    /**
     * Returns how many of the next rows of a plain chunk the kernel reads in place; 0 if they are
     * copied: if the chunk is on the heap, or the kernel would verify it and it exceeds a segment.
     */
    private int rowsInPlace(Probe probe) {
        ChunkSlot slot = probe.chunk().slot();
        boolean isPlainSlot = slot != null && !(probe.chunk() instanceof EncodedChunk);
        if (!isPlainSlot || !readsInPlace || probe.nextRow % SegmentPipe.RANGE_ROWS != 0) {
            return 0;
        }
        int left = probe.chunk().rowCount() - probe.nextRow;
        if (left <= sizer.rows() && (probe.nextRow == 0 || slot.isVerified())) {
            return left;
        }
        return slot.isVerified()
                ? sizer.rows() / SegmentPipe.RANGE_ROWS * SegmentPipe.RANGE_ROWS
                : 0;
    }

    /** Returns whether the kernel can read the slot of the chunk. */
    private boolean addInPlace(Probe probe, int rowCount) {
        ChunkSlot slot = probe.chunk().slot();
        long deviceAddress =
                registrations.deviceAddress(slot.region(), slot.address(), stallTimeoutNs);
        if (deviceAddress == 0) {
            return false;
        }
        pipe.addInPlace(probe.chunk(), probe.nextRow, rowCount, deviceAddress);
        probe.nextRow += rowCount;
        return true;
    }
}
