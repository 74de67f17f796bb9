// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.api.options.RingSharing;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.execution.CheckpointingMode;

/**
 * What a job is made of, without its rows. Few shapes are drawn often, so that their plans are made
 * once.
 *
 * @param dimensions at least one
 * @param sinkApart whether the sink is a task of its own, behind a channel
 * @param transport of chunks of partitioned sides
 * @param sharing of rings; all tasks are in one TaskManager
 * @param rowTtlMs time for which rows of a dimension that changes live; 0 for ever
 * @param factTtlMs time for which facts wait for dimensions; 0 for ever
 * @param measuredLimit bytes up to which the {@linkplain #isMeasured measured} dimension is
 *     replicated; {@link #NOT_MEASURED} if no dimension is measured
 * @param keyGroups maximum parallelism of all vertices
 */
record JobShape(
        List<DimensionShape> dimensions,
        CheckpointingMode mode,
        boolean unaligned,
        boolean sinkApart,
        int chunkBytes,
        String engine,
        String transport,
        RingSharing sharing,
        int rowTtlMs,
        int factTtlMs,
        int measuredLimit,
        int keyGroups) {

    static final int NOT_MEASURED = -1;

    static final int FEW_KEY_GROUPS = 8;
    static final int RING_SLOTS = 4;

    /** How a dimension is joined; {@link #RIGHT} and {@link #FULL} in pairs alone. */
    enum Kind {
        INNER,
        LEFT,
        SEMI,
        ANTI,
        RIGHT,
        FULL;

        static final List<Kind> OF_STARS = List.of(INNER, LEFT, SEMI, ANTI);

        boolean keepsFacts() {
            return this == LEFT || this == FULL;
        }

        boolean keepsRows() {
            return this == RIGHT || this == FULL;
        }
    }

    /** Of which API the job is made. */
    enum Api {
        STAR,
        /** A join of two streams of whole records. */
        PAIR,
        /** The same with a condition besides the key. */
        PAIR_WITH_CONDITION
    }

    /** How the rows of a dimension come. */
    enum Rows {
        /** Its sources end. */
        BOUNDED,
        /** Its sources do not end; a watermark says that it is complete. */
        COMPLETE_AT_WATERMARK,
        /** A changelog by key, each fact joined as it comes. */
        CHANGING,
        /** A changelog by key and time. */
        VERSIONED
    }

    record DimensionShape(Kind kind, Rows rows, boolean partitioned, Api api)
            implements Serializable {

        DimensionShape(Kind kind, Rows rows, boolean partitioned) {
            this(kind, rows, partitioned, Api.STAR);
        }

        /**
         * Whether a value matches the fact of the number, if their keys do: a third of all do not
         * where there is a condition.
         */
        boolean isMatch(long value, long number) {
            return api != Api.PAIR_WITH_CONDITION || (value + number) % 3 != 0;
        }

        boolean isSelected() {
            return kind != Kind.SEMI && kind != Kind.ANTI;
        }
    }

    /** Whether the key of a dimension is hashed: some of those that change or have versions. */
    boolean isHashed(int d) {
        Rows rows = dimensions.get(d).rows();
        return sinkApart && (rows == Rows.CHANGING || rows == Rows.VERSIONED);
    }

    /** The dimensions, by the key of one of which facts are sent. */
    private List<DimensionShape> partitioned() {
        if (hasPartitions() || measuredLimit != NOT_MEASURED) {
            return dimensions;
        }
        List<DimensionShape> partitioned = new ArrayList<>(dimensions);
        DimensionShape first = dimensions.get(0);
        partitioned.set(0, new DimensionShape(first.kind(), first.rows(), true, first.api()));
        return List.copyOf(partitioned);
    }

    /**
     * This with so many key groups that a chunk has those of a subtask, if checkpoints are aligned.
     *
     * @param count more than 256
     */
    JobShape withManyKeyGroups(int count, boolean unalignedCheckpoints) {
        return new JobShape(
                partitioned(),
                mode,
                unalignedCheckpoints,
                sinkApart,
                chunkBytes,
                engine,
                transport,
                sharing,
                rowTtlMs,
                factTtlMs,
                measuredLimit,
                count);
    }

    /** This with rings, and a dimension whose chunks go through them. */
    JobShape withRings(RingSharing shared) {
        return new JobShape(
                partitioned(),
                mode,
                unaligned,
                sinkApart,
                chunkBytes,
                engine,
                SimulatedRings.NAME,
                shared,
                rowTtlMs,
                factTtlMs,
                measuredLimit,
                keyGroups);
    }

    /** This with a device that is lost in the midst of it. */
    JobShape withFailingDevice() {
        return withDevice(FailingDevice.NAME);
    }

    /** This with the GPU engine on a device of CPU threads. */
    JobShape withHostGpu() {
        return withDevice(HostGpu.NAME);
    }

    private JobShape withDevice(String device) {
        return new JobShape(
                dimensions,
                mode,
                unaligned,
                sinkApart,
                chunkBytes,
                device,
                transport,
                sharing,
                rowTtlMs,
                factTtlMs,
                measuredLimit,
                keyGroups);
    }

    /** This with rows that live for a time, or facts that wait for a time. */
    JobShape withTimesToLive(int ofRowsMs, int ofFactsMs) {
        return new JobShape(
                dimensions,
                mode,
                unaligned,
                sinkApart,
                chunkBytes,
                engine,
                transport,
                sharing,
                ofRowsMs,
                ofFactsMs,
                measuredLimit,
                keyGroups);
    }

    /** This with a dimension that is distributed by its measured size, if one may be. */
    JobShape withMeasured(int limit) {
        boolean may =
                !hasPartitions()
                        && !isPair()
                        && dimensions.stream().anyMatch(JobShape::isMeasurable);
        return new JobShape(
                dimensions,
                mode,
                unaligned,
                sinkApart,
                chunkBytes,
                engine,
                transport,
                sharing,
                rowTtlMs,
                factTtlMs,
                may ? limit : NOT_MEASURED,
                keyGroups);
    }

    private static boolean isMeasurable(DimensionShape dimension) {
        return dimension.rows() == Rows.BOUNDED || dimension.rows() == Rows.COMPLETE_AT_WATERMARK;
    }

    /** Whether a dimension is distributed by its measured size: the first that may be. */
    boolean isMeasured(int dimension) {
        return measuredLimit != NOT_MEASURED
                && isMeasurable(dimensions.get(dimension))
                && dimensions.subList(0, dimension).stream().noneMatch(JobShape::isMeasurable);
    }

    /** Whether the job is a join of two streams, the second of which is the only dimension. */
    boolean isPair() {
        return dimensions.get(0).api() != Api.STAR;
    }

    boolean hasFailingDevice() {
        return engine.equals(FailingDevice.NAME);
    }

    boolean hasHostGpu() {
        return engine.equals(HostGpu.NAME);
    }

    boolean hasRings() {
        return transport.equals(SimulatedRings.NAME);
    }

    boolean hasPartitions() {
        return dimensions.stream().anyMatch(DimensionShape::partitioned);
    }

    boolean isVersioned() {
        return dimensions.stream().anyMatch(dimension -> dimension.rows() == Rows.VERSIONED);
    }

    boolean isExactlyOnce() {
        return mode == CheckpointingMode.EXACTLY_ONCE;
    }

    boolean changes() {
        return dimensions.stream().anyMatch(dimension -> dimension.rows() == Rows.CHANGING);
    }
}
