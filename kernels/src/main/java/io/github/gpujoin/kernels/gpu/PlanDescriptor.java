// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Offsets of the structs that describe a join to the kernels, in device memory. {@code layout.h}
 * draws the structs and has the same offsets.
 */
final class PlanDescriptor {

    /** Maximum dimensions of a join on the device. */
    static final int MAX_DIMENSIONS = 16;

    static final int MAX_FACT_COLUMNS = 16;

    static final int PLAN_BYTES = 184;
    static final int PLAN_SEGMENTS_OFFSET = 0;
    static final int PLAN_SCRATCH_OFFSET = 8;
    static final int PLAN_RESULTS_OFFSET = 16;
    static final int PLAN_COMPLETIONS_OFFSET = 24;
    static final int PLAN_PROGRESS_OFFSET = 32;
    static final int PLAN_DIMENSIONS_OFFSET = 40;
    static final int PLAN_COPIES_OFFSET = 48;
    static final int PLAN_SEGMENT_BYTES_OFFSET = 56;
    static final int PLAN_RESULT_BYTES_OFFSET = 64;
    static final int PLAN_CAPACITY_ROWS_OFFSET = 72;
    static final int PLAN_DIMENSION_COUNT_OFFSET = 76;
    static final int PLAN_COLUMN_COUNT_OFFSET = 80;
    static final int PLAN_SCHEMA_FINGERPRINT_OFFSET = 84;
    static final int PLAN_COLUMN_WIDTH_OFFSET = 88;
    static final int PLAN_FILTERS_OFFSET = 104;
    static final int PLAN_RANGES_OFFSET = 112;
    static final int PLAN_AGGREGATION_OFFSET = 120;
    static final int PLAN_FILTER_COUNT_OFFSET = 128;
    static final int PLAN_NULL_KEYS_COLUMN_OFFSET = 132;
    static final int PLAN_DECODED_ROWS_OFFSET = 136;
    static final int PLAN_PACKS_RESULTS_OFFSET = 144;
    static final int PLAN_CHUNK_COLUMN_COUNT_OFFSET = 148;
    static final int PLAN_CHUNK_COLUMN_WIDTH_OFFSET = 152;
    static final int PLAN_SEGMENT_COLUMN_OFFSET = 168;

    /** Stands for a column of a chunk that the device does not need. */
    static final byte NOT_IN_SEGMENT = (byte) 0xFF;

    /** Stands for a column that a join does not have. */
    static final int NO_COLUMN = -1;

    /** The number of shards is a byte. */
    static final int MAX_SHARDS = 255;

    static final int SHARD_BYTES = 24;
    static final int SHARD_SLOTS_OFFSET = 0;
    static final int SHARD_ROWS_OFFSET = 8;
    static final int SHARD_SLOT_COUNT_OFFSET = 16;

    static final int DIMENSION_BYTES = 72;
    static final int DIMENSION_SLOTS_OFFSET = 0;
    static final int DIMENSION_ROWS_OFFSET = 8;
    static final int DIMENSION_SLOT_COUNT_OFFSET = 16;
    static final int DIMENSION_ROW_BYTES_OFFSET = 20;
    static final int DIMENSION_TABLE_KIND_OFFSET = 24;
    static final int DIMENSION_KEY_COLUMN_OFFSET = 28;
    static final int DIMENSION_FIRST_COPY_OFFSET = 32;
    static final int DIMENSION_COPY_COUNT_OFFSET = 36;
    static final int DIMENSION_JOIN_KIND_OFFSET = 40;
    static final int DIMENSION_SHARD_COUNT_OFFSET = 44;
    static final int DIMENSION_ROW_SHIFT_OFFSET = 45;
    static final int DIMENSION_BUILT_SHARDS_OFFSET = 46;
    static final int DIMENSION_BUILT_SHARD_OFFSET = 47;
    static final int DIMENSION_MATCHED_OFFSET_OFFSET = 48;
    static final int DIMENSION_HASH_SEED_OFFSET = 56;
    static final int DIMENSION_HASH_MULTIPLIER_OFFSET = 64;

    static final int COPY_BYTES = 32;
    static final int COPY_RESULT_OFFSET_OFFSET = 0;
    static final int COPY_ROW_OFFSET_OFFSET = 8;
    static final int COPY_WIDTH_OFFSET = 12;
    static final int COPY_BASE_OFFSET = 16;
    static final int COPY_BITS_OFFSET = 24;

    /** Facts whose packed results are adjacent, a multiple of the bits of a word. */
    static final int PACKED_ROWS = 4096;

    static final int PAYLOAD_RANGE_BYTES = 16;
    static final int PAYLOAD_RANGE_LEAST_OFFSET = 0;
    static final int PAYLOAD_RANGE_GREATEST_OFFSET = 8;

    /** Bytes of a column of decoded rows, for each block. */
    static final int DECODED_COLUMN_BYTES = 64 << 10;

    static final int PROGRESS_BYTES = 16;
    static final int KEY_SLOT_BYTES = 16;
    static final int CHAIN_HEAD_BYTES = 4;

    static final int ROW_KEY_OFFSET = 0;
    static final int ROW_NEXT_OFFSET = 8;
    static final int ROW_PAYLOAD_OFFSET = 12;

    private PlanDescriptor() {}
}
