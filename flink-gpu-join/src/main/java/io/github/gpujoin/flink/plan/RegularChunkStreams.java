// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.pack.ChunkPackOperator;
import io.github.gpujoin.flink.pack.ChunkProjection;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.symmetric.JoinedChunkEmitter;
import io.github.gpujoin.flink.runtime.symmetric.JoinedColumn;
import io.github.gpujoin.flink.runtime.symmetric.TwoInputPlan;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Joins streams of columnar chunks. */
final class RegularChunkStreams extends RegularStreams<Chunk> {

    private final Map<JoinSide, DataStream<Chunk>> streams = new EnumMap<>(JoinSide.class);

    RegularChunkStreams(DataStream<Chunk> left, DataStream<Chunk> right) {
        streams.put(JoinSide.LEFT, left);
        streams.put(JoinSide.RIGHT, right);
        schema(JoinSide.LEFT);
        schema(JoinSide.RIGHT);
    }

    private ChunkSchema schema(JoinSide side) {
        if (streams.get(side).getType() instanceof ChunkTypeInfo type) {
            return type.schema();
        }
        throw new IllegalArgumentException(
                "A stream of chunks lacks its columns: side=%s, type=%s. Declare them with .returns(ChunkTypeInfo.of(schema))."
                        .formatted(side, streams.get(side).getType()));
    }

    @Override
    public DataStream<Chunk> join(RegularJoinDescription join) {
        requireSupported(join);
        StreamExecutionEnvironment env = streams.get(JoinSide.LEFT).getExecutionEnvironment();
        RegularJoinTopology topology =
                new RegularJoinTopology(
                        env, env.getConfiguration(), join.uid(), env.getParallelism());
        ChunkProjection left = projection(JoinSide.LEFT, join);
        ChunkProjection right = projection(JoinSide.RIGHT, join);
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        input(JoinSide.LEFT, left.schema(), join),
                        input(JoinSide.RIGHT, right.schema(), join),
                        join.kind());
        List<JoinedColumn> columns = new ArrayList<>();
        List<Column> results = new ArrayList<>();
        for (JoinSide side : JoinSide.values()) {
            if (join.kind().returns(side)) {
                addColumns(side, spec.input(side).schema(), join, columns, results);
            }
        }
        if (join.hasChanges()) {
            results.add(Column.of(join.changeColumn(), ColumnType.INT32));
        }
        ChunkSchema schema = ChunkSchema.of(results);
        int chunkBytes = JoinConfig.chunkBytes(env.getConfiguration());
        Transformation<Chunk> joined =
                topology.join(
                        List.of(
                                pack(topology, JoinSide.LEFT, left),
                                pack(topology, JoinSide.RIGHT, right)),
                        topology.settings(
                                new TwoInputPlan(spec, null, 0, 0),
                                List.of(
                                        description(JoinSide.LEFT, spec),
                                        description(JoinSide.RIGHT, spec))),
                        rows ->
                                new JoinedChunkEmitter(
                                        spec.left().schema(),
                                        spec.right().schema(),
                                        schema,
                                        columns,
                                        chunkBytes,
                                        rows),
                        ChunkTypeInfo.of(schema));
        return new OperatorStream<>(env, joined);
    }

    private static void requireSupported(RegularJoinDescription join) {
        if (join.keys(JoinSide.LEFT).size() > 1 || join.matchesNulls()) {
            throw new IllegalArgumentException(
                    "Chunks are joined on one integer column whose nulls match nothing: uid=%s, keys=%s. Remove .on(...) or .nullSafe(), or join rows."
                            .formatted(join.uid().text(), join.keys(JoinSide.LEFT)));
        }
        if (join.condition() != null) {
            throw new IllegalArgumentException(
                    "Chunks are joined without a condition: uid=%s. Remove .matching(...) and filter the results, or join rows."
                            .formatted(join.uid().text()));
        }
    }

    /** Selects the key, the columns of the result and those that identify a row. */
    private ChunkProjection projection(JoinSide side, RegularJoinDescription join) {
        String key = join.keys(side).get(0);
        Set<String> columns = new LinkedHashSet<>(List.of(key));
        if (join.kind().returns(side)) {
            columns.addAll(selected(side, join));
        }
        columns.addAll(join.uniqueColumns(side));
        if (join.identity(side) == RowIdentity.MULTISET) {
            schema(side).columns().forEach(column -> columns.add(column.name()));
        }
        if (join.isChangelog(side)) {
            columns.add(join.changeColumn());
        }
        ChunkProjection projection =
                ChunkProjection.of(schema(side), List.copyOf(columns), List.of(key));
        if (!join.kind().keepsUnmatched(side)) {
            return projection;
        }
        ChunkProjection keeping = projection.keepingNullKeys(Map.of(key, 1));
        if (join.isChangelog(side) && !keeping.nullKeyBits().isEmpty()) {
            throw new IllegalArgumentException(
                    "Changes of rows with a null key may be reordered: side=%s, column=%s. Declare the column not nullable, or join rows."
                            .formatted(side, key));
        }
        return keeping;
    }

    private List<String> selected(JoinSide side, RegularJoinDescription join) {
        List<String> selected = join.selected(side);
        if (selected != null) {
            return selected;
        }
        return schema(side).columns().stream()
                .map(Column::name)
                .filter(name -> !join.isChangelog(side) || !name.equals(join.changeColumn()))
                .toList();
    }

    private static SymmetricInput input(
            JoinSide side, ChunkSchema schema, RegularJoinDescription join) {
        int change = join.isChangelog(side) ? schema.require(join.changeColumn()) : -1;
        List<Integer> identity =
                switch (join.identity(side)) {
                    case APPEND_ONLY, JOIN_KEY -> List.of();
                    case UNIQUE_COLUMNS ->
                            join.uniqueColumns(side).stream().map(schema::require).toList();
                    case MULTISET ->
                            IntStream.range(0, schema.size())
                                    .filter(column -> column != change)
                                    .boxed()
                                    .toList();
                };
        return new SymmetricInput(
                side == JoinSide.LEFT ? "left" : "right",
                schema,
                schema.require(join.keys(side).get(0)),
                SymmetricInput.NONE,
                schema.indexOf(RecordLayout.NULL_KEYS),
                change,
                join.identity(side),
                identity,
                join.ttlMs(side));
    }

    /** Adds the columns of a side to those of the results. Equal names are numbered. */
    private void addColumns(
            JoinSide side,
            ChunkSchema schema,
            RegularJoinDescription join,
            List<JoinedColumn> columns,
            List<Column> results) {
        Set<String> names = new HashSet<>();
        results.forEach(column -> names.add(column.name()));
        for (String selected : selected(side, join)) {
            int index = schema.require(selected);
            String name = selected;
            for (int i = 0; !names.add(name); i++) {
                name = selected + i;
            }
            boolean isNullable =
                    schema(side).column(schema(side).require(selected)).nullable()
                            || join.kind().keepsUnmatched(side.other());
            boolean isKey = selected.equals(join.keys(side).get(0));
            columns.add(
                    new JoinedColumn(
                            side,
                            index,
                            isKey ? schema.indexOf(RecordLayout.NULL_KEYS) : JoinedColumn.NONE));
            results.add(new Column(name, schema.column(index).type(), isNullable));
        }
    }

    private static String description(JoinSide side, SymmetricJoinSpec spec) {
        SymmetricInput input = spec.input(side);
        return "columns=%s, key=%d, identity=%s %s"
                .formatted(
                        input.schema(),
                        input.keyColumn(),
                        input.identity(),
                        input.identityColumns());
    }

    private Transformation<Chunk> pack(
            RegularJoinTopology topology, JoinSide side, ChunkProjection projection) {
        DataStream<Chunk> stream = streams.get(side);
        String name = side == JoinSide.LEFT ? "left" : "right";
        return topology.pack(
                name,
                name,
                stream.getTransformation(),
                new ChunkPackOperator(projection, null, topology.packing(side.ordinal(), name)),
                projection.schema(),
                stream.getParallelism());
    }
}
