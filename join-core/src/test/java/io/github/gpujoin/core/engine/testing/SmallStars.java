// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Joins whose facts consist of one key for all dimensions. */
public final class SmallStars {

    private SmallStars() {}

    public static final ChunkSchema FACTS = ChunkSchema.of(Column.of("fact_key", ColumnType.INT64));

    public static Chunk longFacts(LongStream keys) {
        return longFacts(keys.toArray());
    }

    public static Chunk longFacts(long... keys) {
        return TestChunks.of(
                FACTS,
                LongStream.of(keys).mapToObj(key -> new Object[] {key}).toArray(Object[][]::new));
    }

    public static JoinSpec star(ColumnType factKey, DimensionSpec... dimensions) {
        return new JoinSpec(ChunkSchema.of(Column.of("fact_key", factKey)), List.of(dimensions));
    }

    public static DimensionSpec dimension(ColumnType key, JoinKind kind, ColumnType... payload) {
        List<Column> columns = new ArrayList<>(List.of(Column.of("key", key)));
        for (int i = 0; i < payload.length; i++) {
            columns.add(Column.of("payload_" + i, payload[i]));
        }
        return new DimensionSpec("dimension", ChunkSchema.of(columns), 0, 0, kind);
    }
}
