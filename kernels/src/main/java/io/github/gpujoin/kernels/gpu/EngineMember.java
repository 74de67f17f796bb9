// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine uses on one device of its group to join facts: a plan, segments in flight, and
 * groups. Open, write and free it while the serving kernel is stopped. Not thread-safe.
 */
final class EngineMember {

    private final GpuOptions options;
    private final DeviceLease lease;
    private final Buffers buffers;
    private final ResultFormat format;
    private final ResultLayout layout;
    private final int plan;
    private final JoinPlan joinPlan;
    private final BusShares.Share share;
    private final SegmentPipe pipe;
    private final SegmentCutter cutter;
    private final long emptyAddress;

    /** Null if the join does not aggregate. */
    private final @Nullable GpuGroups groups;

    /** Whether there may be device memory to decode rows. */
    private boolean mayDecode = true;

    /**
     * Allocates all memory and writes the plan.
     *
     * @param facts writes segments for all members of the engine
     * @param buffers own the memory; closed by the engine, also if this constructor fails
     * @param tables of all dimensions on the device
     * @param layout of the batches of all members; null for the first one
     * @param readsInPlace whether the kernel can read chunks in slots
     */
    EngineMember(
            JoinSpec spec,
            GpuOptions options,
            DeviceLease lease,
            FactSegments facts,
            Buffers buffers,
            List<GpuTable> tables,
            @Nullable ResultLayout layout,
            boolean readsInPlace) {
        this.options = options;
        this.lease = lease;
        this.buffers = buffers;
        this.format = ResultFormat.of(spec, tables, options, buffers);
        this.layout = layout == null ? format.newLayout() : layout;
        int segmentBytes = facts.plainBytes(options.segmentRows());
        SegmentSlots slots =
                new SegmentSlots(
                        lease.driver(),
                        buffers,
                        options.ringMemory(),
                        options.slots(),
                        segmentBytes,
                        format);
        this.emptyAddress = slots.resultAddress(0, 0);
        this.groups =
                spec.isAggregating()
                        ? new GpuGroups(
                                spec.aggregation(),
                                lease.driver(),
                                buffers,
                                lease.blocks() * DeviceLease.SERVE_THREADS)
                        : null;
        this.joinPlan = new JoinPlan(spec, facts, format, tables, false, groups);
        this.plan = lease.plans().reserve();
        try {
            joinPlan.write(
                    lease.driver(),
                    buffers,
                    lease.plans().decoding(),
                    slots,
                    lease.plans().address(plan));
        } catch (Throwable e) {
            lease.plans().free(plan);
            throw e;
        }
        SegmentSizer sizer =
                new SegmentSizer(
                        options.segmentRows(),
                        spec.isAggregating()
                                ? DeviceLease.SERVE_THREADS * GroupDescriptor.ADDED_PER_THREAD
                                : options.segmentRows());
        this.share = lease.ring().shares().open(options.share());
        this.pipe =
                new SegmentPipe(
                        lease,
                        share,
                        plan,
                        slots,
                        facts,
                        sizer,
                        format.newReader(this.layout),
                        options.stallTimeoutNs());
        this.cutter =
                new SegmentCutter(
                        pipe,
                        sizer,
                        lease.registrations(),
                        facts,
                        segmentBytes,
                        readsInPlace,
                        this::decodes,
                        options.stallTimeoutNs());
    }

    /** Returns the layout of batches. */
    ResultLayout layout() {
        return layout;
    }

    /**
     * Returns another layout for the batches of all members, whose results have the same format.
     */
    ResultLayout newLayout() {
        return format.newLayout();
    }

    /** Returns an address for batches without rows. */
    long emptyAddress() {
        return emptyAddress;
    }

    SegmentPipe pipe() {
        return pipe;
    }

    SegmentCutter cutter() {
        return cutter;
    }

    /**
     * Returns whether the kernel has memory to decode rows, which the first encoded chunk needs.
     */
    private boolean decodes() {
        if (!joinPlan.decodes() && mayDecode) {
            try {
                lease.whileStopped(
                        options.stallTimeoutNs(),
                        () ->
                                joinPlan.enableDecoding(
                                        lease.driver(),
                                        buffers,
                                        lease.plans().decoding(),
                                        lease.plans().address(plan)));
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                    throw e;
                }
                mayDecode = false;
            }
        }
        return joinPlan.decodes();
    }

    /** Writes the addresses of the tables to the plan again; batches have another layout. */
    void replaceTables(ResultLayout layout) {
        joinPlan.writeTables(lease.driver());
        pipe.replaceReader(format.newReader(layout));
    }

    /**
     * Waits until the device uses no slot of the engine.
     *
     * @throws GpuUnavailableException if that cannot be known; the device is lost then, so that its
     *     memory is not freed
     */
    void awaitSteps() {
        try {
            pipe.awaitSteps();
        } catch (GpuUnavailableException e) {
            lease.lose();
            throw e;
        }
    }

    /** Returns all groups and clears them. */
    GroupRows drainGroups() {
        return groups.drain();
    }

    /** Frees the plan. The owner of the buffers frees the memory. */
    void freePlan() {
        share.close();
        lease.plans().free(plan);
    }
}
