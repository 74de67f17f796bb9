// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the Plan of an engine, which tells the kernel what to join, and all structs to which it
 * refers.
 */
final class JoinPlan {

    /** A payload column in the build row and in the result buffer. */
    private record PayloadCopy(ResultColumn target, int rowOffset) {}

    private final JoinSpec spec;
    private final FactSegments segments;
    private final ResultFormat results;
    private final List<GpuTable> tables;
    private final boolean countOnly;
    private final @Nullable GpuGroups groups;
    private final List<PayloadCopy> copies = new ArrayList<>();
    private final int[] firstCopies;
    private long dimensions;

    /** Device memory in which blocks decode rows, or 0. */
    private long decodedRows;

    /**
     * @param tables reread each time they are written
     * @param countOnly whether matches are counted instead of written
     */
    JoinPlan(
            JoinSpec spec,
            FactSegments segments,
            ResultFormat results,
            List<GpuTable> tables,
            boolean countOnly) {
        this(spec, segments, results, tables, countOnly, null);
    }

    /**
     * @param groups null unless the join aggregates
     */
    JoinPlan(
            JoinSpec spec,
            FactSegments segments,
            ResultFormat results,
            List<GpuTable> tables,
            boolean countOnly,
            @Nullable GpuGroups groups) {
        this.countOnly = countOnly;
        this.groups = groups;
        this.spec = spec;
        this.segments = segments;
        this.results = results;
        this.tables = tables;
        this.firstCopies = new int[tables.size() + 1];
        for (int d = 0; d < tables.size(); d++) {
            if (groups == null) {
                addCopies(d, tables.get(d).layout());
            }
            firstCopies[d + 1] = copies.size();
        }
    }

    /**
     * Checks that the kernels support the size of the join.
     *
     * @throws GpuUnavailableException with UNSUPPORTED_JOIN if they do not
     */
    static void requireFits(JoinSpec spec, FactSegments segments) {
        if (spec.dimensions().size() > PlanDescriptor.MAX_DIMENSIONS
                || segments.columnCount() > PlanDescriptor.MAX_FACT_COLUMNS) {
            throw new GpuUnavailableException(
                    GpuFailure.UNSUPPORTED_JOIN,
                    "Join exceeds the limits of the GPU: dimensions=%d, maxDimensions=%d, factColumns=%d, maxFactColumns=%d.\nSplit the join, or use the CPU engine."
                            .formatted(
                                    spec.dimensions().size(),
                                    PlanDescriptor.MAX_DIMENSIONS,
                                    segments.columnCount(),
                                    PlanDescriptor.MAX_FACT_COLUMNS));
        }
    }

    private void addCopies(int d, BuildRowLayout row) {
        for (int i = 0; i < row.payloadCount(); i++) {
            copies.add(new PayloadCopy(results.column(d, i), row.payloadOffset(i)));
        }
        if (row.variableWidthOffset() >= 0) {
            ResultColumn refs = results.column(d, row.payloadCount());
            copies.add(new PayloadCopy(refs, row.variableWidthOffset()));
        }
    }

    /**
     * Copies the plan to {@code planAddress}, and the structs of its dimensions to memory of {@code
     * buffers}.
     *
     * @param decoding memory for encoded facts
     */
    void write(
            CudaDriver driver,
            Buffers buffers,
            DecodingMemory decoding,
            SegmentSlots slots,
            long planAddress) {
        long dimensionsBytes = (long) tables.size() * PlanDescriptor.DIMENSION_BYTES;
        long copiesBytes = (long) copies.size() * PlanDescriptor.COPY_BYTES;
        dimensions = buffers.device(dimensionsBytes + copiesBytes);
        try (Region region = Region.allocateZeroed(dimensionsBytes + copiesBytes)) {
            writeDimensions(region.address());
            writeCopies(region.address() + dimensionsBytes);
            driver.copyToDevice(dimensions, region.address(), region.lengthBytes());
        }
        try (Region region = Region.allocateZeroed(PlanDescriptor.PLAN_BYTES)) {
            long plan = region.address();
            slots.writePlan(plan, countOnly);
            if (segments.encodes()) {
                decodedRows = decoding.address(segments.columnCount(), buffers);
            }
            Memory.putLong(plan + PlanDescriptor.PLAN_DECODED_ROWS_OFFSET, decodedRows);
            Memory.putLong(plan + PlanDescriptor.PLAN_DIMENSIONS_OFFSET, dimensions);
            Memory.putLong(plan + PlanDescriptor.PLAN_COPIES_OFFSET, dimensions + dimensionsBytes);
            Memory.putInt(plan + PlanDescriptor.PLAN_DIMENSION_COUNT_OFFSET, tables.size());
            Memory.putInt(plan + PlanDescriptor.PLAN_COLUMN_COUNT_OFFSET, segments.columnCount());
            Memory.putInt(
                    plan + PlanDescriptor.PLAN_SCHEMA_FINGERPRINT_OFFSET, segments.fingerprint());
            Memory.putInt(
                    plan + PlanDescriptor.PLAN_PACKS_RESULTS_OFFSET, results.isPacked() ? 1 : 0);
            Memory.putInt(plan + PlanDescriptor.PLAN_NULL_KEYS_COLUMN_OFFSET, nullKeysColumn());
            for (int c = 0; c < segments.columnCount(); c++) {
                long at = plan + PlanDescriptor.PLAN_COLUMN_WIDTH_OFFSET + c;
                Memory.putByte(null, at, (byte) segments.columnWidth(c));
            }
            writeChunkColumns(plan);
            new FilterPlan(spec.filters(), segments).write(driver, buffers, plan);
            if (groups != null) {
                new AggregationPlan(spec, segments, d -> tables.get(d).layout(), groups)
                        .write(driver, buffers, plan);
            }
            driver.copyToDevice(planAddress, plan, PlanDescriptor.PLAN_BYTES);
        }
    }

    /** Returns whether the kernel has memory to decode rows. */
    boolean decodes() {
        return decodedRows != 0;
    }

    /**
     * Gives the kernel memory to decode rows, in a plan that is already on the device. Call it
     * while the serving kernel is stopped.
     */
    void enableDecoding(
            CudaDriver driver, Buffers buffers, DecodingMemory decoding, long planAddress) {
        decodedRows = decoding.address(segments.columnCount(), buffers);
        try (Region region = Region.allocate(Long.BYTES)) {
            Memory.putLong(region.address(), decodedRows);
            driver.copyToDevice(
                    planAddress + PlanDescriptor.PLAN_DECODED_ROWS_OFFSET,
                    region.address(),
                    Long.BYTES);
        }
    }

    /** Writes where the columns of a chunk that is read in place are in a segment. */
    private void writeChunkColumns(long plan) {
        List<Integer> columns = segments.chunkColumns();
        Memory.putInt(plan + PlanDescriptor.PLAN_CHUNK_COLUMN_COUNT_OFFSET, columns.size());
        for (int c = 0; c < columns.size(); c++) {
            int column = columns.get(c);
            int width = spec.factSchema().column(column).type().widthBytes();
            int segmentColumn = segments.columnOf(column);
            byte inSegment =
                    segmentColumn < 0 ? PlanDescriptor.NOT_IN_SEGMENT : (byte) segmentColumn;
            Memory.putByte(
                    null, plan + PlanDescriptor.PLAN_CHUNK_COLUMN_WIDTH_OFFSET + c, (byte) width);
            Memory.putByte(null, plan + PlanDescriptor.PLAN_SEGMENT_COLUMN_OFFSET + c, inSegment);
        }
    }

    /** Updates the addresses of the tables in a plan that is already on the device. */
    void writeTables(CudaDriver driver) {
        long lengthBytes = (long) tables.size() * PlanDescriptor.DIMENSION_BYTES;
        try (Region region = Region.allocateZeroed(lengthBytes)) {
            writeDimensions(region.address());
            driver.copyToDevice(dimensions, region.address(), lengthBytes);
        }
    }

    private int nullKeysColumn() {
        return spec.hasNullKeys()
                ? segments.columnOf(spec.nullKeysColumn())
                : PlanDescriptor.NO_COLUMN;
    }

    private void writeDimensions(long address) {
        for (int d = 0; d < tables.size(); d++) {
            long at = address + (long) d * PlanDescriptor.DIMENSION_BYTES;
            DimensionSpec side = spec.dimensions().get(d);
            tables.get(d).write(at);
            Memory.putInt(
                    at + PlanDescriptor.DIMENSION_KEY_COLUMN_OFFSET,
                    segments.columnOf(side.factKeyColumn()));
            Memory.putInt(at + PlanDescriptor.DIMENSION_FIRST_COPY_OFFSET, firstCopies[d]);
            Memory.putInt(
                    at + PlanDescriptor.DIMENSION_COPY_COUNT_OFFSET,
                    firstCopies[d + 1] - firstCopies[d]);
            Memory.putInt(at + PlanDescriptor.DIMENSION_JOIN_KIND_OFFSET, side.kind().ordinal());
            Memory.putLong(
                    at + PlanDescriptor.DIMENSION_MATCHED_OFFSET_OFFSET, results.matchedOffset(d));
        }
    }

    private void writeCopies(long address) {
        for (int i = 0; i < copies.size(); i++) {
            PayloadCopy copy = copies.get(i);
            ResultColumn target = copy.target();
            long at = address + (long) i * PlanDescriptor.COPY_BYTES;
            Memory.putLong(at + PlanDescriptor.COPY_RESULT_OFFSET_OFFSET, target.offset());
            Memory.putInt(at + PlanDescriptor.COPY_ROW_OFFSET_OFFSET, copy.rowOffset());
            Memory.putInt(at + PlanDescriptor.COPY_WIDTH_OFFSET, target.widthBytes());
            Memory.putLong(at + PlanDescriptor.COPY_BASE_OFFSET, target.base());
            Memory.putInt(at + PlanDescriptor.COPY_BITS_OFFSET, target.bits());
        }
    }

    /** Returns whether a fact needs at most one row of a key. */
    static boolean isOnce(DimensionSpec side) {
        return !side.kind().keepsPayload();
    }
}
