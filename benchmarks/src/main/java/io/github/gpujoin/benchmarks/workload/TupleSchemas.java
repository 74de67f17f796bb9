// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;

/**
 * Schemas of the build and the probe side of tuple workloads: an INT64 key and an INT64 payload, 16
 * bytes.
 */
public final class TupleSchemas {

    /** Index of the key in both schemas. */
    public static final int KEY = 0;

    /** Index of the payload in both schemas. */
    public static final int PAYLOAD = 1;

    public static final int TUPLE_BYTES = 16;

    public static final String BUILD_KEY = "buildKey";
    public static final String BUILD_PAYLOAD = "buildPayload";
    public static final String PROBE_KEY = "probeKey";
    public static final String PROBE_PAYLOAD = "probePayload";

    public static final ChunkSchema BUILD =
            ChunkSchema.of(
                    Column.of(BUILD_KEY, ColumnType.INT64),
                    Column.of(BUILD_PAYLOAD, ColumnType.INT64));
    public static final ChunkSchema PROBE =
            ChunkSchema.of(
                    Column.of(PROBE_KEY, ColumnType.INT64),
                    Column.of(PROBE_PAYLOAD, ColumnType.INT64));

    /** The inner join of the two sides, for an engine. */
    public static final JoinSpec JOIN =
            new JoinSpec(
                    PROBE, List.of(new DimensionSpec("build", BUILD, KEY, KEY, JoinKind.INNER)));

    private TupleSchemas() {}
}
