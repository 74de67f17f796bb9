// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;

/**
 * Offsets of the structs that describe filters and aggregation to the kernels, in device memory.
 * {@code layout.h} draws the structs and has the same offsets.
 */
final class GroupDescriptor {

    static final int MAX_GROUP_COLUMNS = Aggregation.MAX_GROUP_COLUMNS;
    static final int MAX_AGGREGATES = Aggregation.MAX_AGGREGATES;
    static final int MAX_FACTORS = Aggregate.MAX_FACTORS;

    /** Maximum results that a step aggregates, for each thread of its block. */
    static final int ADDED_PER_THREAD = 1 << 12;

    static final int FILTER_BYTES = 16;
    static final int FILTER_COLUMN_OFFSET = 0;
    static final int FILTER_FIRST_RANGE_OFFSET = 4;
    static final int FILTER_RANGE_COUNT_OFFSET = 8;

    static final int VALUE_RANGE_BYTES = 16;
    static final int VALUE_RANGE_FROM_OFFSET = 0;
    static final int VALUE_RANGE_DISTANCE_OFFSET = 8;

    static final int VALUE_SOURCE_BYTES = 16;
    static final int VALUE_SOURCE_DIMENSION_OFFSET = 0;
    static final int VALUE_SOURCE_AT_OFFSET = 4;
    static final int VALUE_SOURCE_WIDTH_BYTES_OFFSET = 8;

    /** Stands for the facts where a dimension is expected. */
    static final int FACT_SIDE = -1;

    static final int AGGREGATE_BYTES = 40;
    static final int AGGREGATE_FACTOR_COUNT_OFFSET = 0;
    static final int AGGREGATE_FACTORS_OFFSET = 8;

    static final int AGGREGATION_BYTES = 448;
    static final int AGGREGATION_SLOTS_OFFSET = 0;
    static final int AGGREGATION_GROUPS_OFFSET = 8;
    static final int AGGREGATION_GROUP_COUNT_OFFSET = 16;
    static final int AGGREGATION_SLOT_COUNT_OFFSET = 24;
    static final int AGGREGATION_MAX_GROUPS_OFFSET = 28;
    static final int AGGREGATION_COLUMN_COUNT_OFFSET = 32;
    static final int AGGREGATION_AGGREGATE_COUNT_OFFSET = 36;
    static final int AGGREGATION_DIMENSIONS_USED_OFFSET = 40;
    static final int AGGREGATION_COLUMNS_OFFSET = 48;
    static final int AGGREGATION_AGGREGATES_OFFSET = 112;
    static final int AGGREGATION_HASH_SEED_OFFSET = 432;
    static final int AGGREGATION_HASH_MULTIPLIER_OFFSET = 440;

    private GroupDescriptor() {}
}
