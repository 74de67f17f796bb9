// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultColumns;
import io.github.gpujoin.flink.plan.JoinInput.Packed;
import io.github.gpujoin.flink.plan.JoinInputs.SideColumn;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * A join of a star join's facts with one of its dimensions, in batch mode. Its facts have the
 * columns of the dimensions of earlier stages.
 *
 * @param dimension its number
 * @param facts the columns of the facts
 * @param spec of the emitters
 */
record BulkStage(int dimension, Facts facts, Packed build, JoinSpec spec, BulkJoinSpec bulk) {

    /**
     * The facts, joined with the dimensions of earlier stages.
     *
     * @param fields by column
     * @param columns what each column is
     */
    record Facts(ChunkSchema schema, List<RecordField> fields, List<SideColumn> columns) {

        /** Returns the facts as they are packed. */
        static Facts of(Packed packed) {
            return new Facts(
                    packed.schema(),
                    packed.fields(),
                    packed.schema().columns().stream()
                            .map(column -> new SideColumn(ChunkDescriptor.FACTS, column.name()))
                            .toList());
        }

        int require(SideColumn column) {
            int index = columns.indexOf(column);
            if (index < 0) {
                throw new IllegalStateException(
                        "Column is not in the facts: column=%s, columns=%s"
                                .formatted(column, columns));
            }
            return index;
        }
    }

    /**
     * Describes a stage.
     *
     * @param side description of the dimension
     * @param build the packed dimension
     */
    static BulkStage of(
            int dimension, DimensionInput<?> side, JoinKey key, Facts facts, Packed build) {
        int factKey = facts.require(new SideColumn(ChunkDescriptor.FACTS, key.factColumn()));
        JoinSpec spec =
                new JoinSpec(
                        facts.schema(),
                        List.of(
                                new DimensionSpec(
                                        side.input().name(),
                                        build.schema(),
                                        build.column(key.column()),
                                        factKey,
                                        side.kind())),
                        List.of(),
                        null,
                        facts.schema().indexOf(RecordLayout.NULL_KEYS));
        BulkJoinSpec bulk =
                BulkSpecs.of(
                        spec,
                        BulkJoinKind.valueOf(side.kind().name()),
                        "facts",
                        facts.require(
                                new SideColumn(ChunkDescriptor.FACTS, key.comparedFactColumn())),
                        build.column(key.comparedColumn()));
        return new BulkStage(dimension, facts, build, spec, bulk);
    }

    /** Returns the bits of null keys in facts that match nothing in the dimension. */
    int nullKeyBits() {
        return 1 << dimension;
    }

    /**
     * Returns a column of the results.
     *
     * @param nullKeyBits as {@link OutputField#nullKeyBits()}
     */
    OutputField field(SideColumn column, String name, int nullKeyBits) {
        if (column.side() == dimension) {
            int index = build.column(column.column());
            return new OutputField(name, 0, index, build.fields().get(index));
        }
        int index = facts.require(column);
        return new OutputField(
                name, ChunkDescriptor.FACTS, index, facts.fields().get(index), nullKeyBits);
    }

    /** Returns the same stage, whose join returns groups. */
    BulkStage grouped(List<SideColumn> columns, List<List<SideColumn>> factors) {
        Aggregation aggregation =
                new Aggregation(
                        columns.stream().map(this::joinColumn).toList(),
                        factors.stream()
                                .map(
                                        sum ->
                                                new Aggregate(
                                                        sum.stream()
                                                                .map(this::joinColumn)
                                                                .toList()))
                                .toList());
        return new BulkStage(
                dimension,
                facts,
                build,
                spec,
                new BulkJoinSpec(
                        bulk.left(),
                        bulk.right(),
                        bulk.kind(),
                        bulk.keysWithEqualNulls(),
                        new BulkOutput.Groups(aggregation)));
    }

    private JoinColumn joinColumn(SideColumn column) {
        if (column.side() != dimension) {
            return new JoinColumn(JoinSide.LEFT.ordinal(), facts.require(column));
        }
        DimensionSpec side = spec.dimensions().get(0);
        int index = build.column(column.column());
        // A semi join returns no column of the dimension. The fact's key equals the dimension's.
        return index == side.keyColumn()
                ? new JoinColumn(JoinSide.LEFT.ordinal(), side.factKeyColumn())
                : new JoinColumn(JoinSide.RIGHT.ordinal(), index);
    }

    /** Returns the columns of the results that later stages read. */
    ResultColumns carried(Collection<SideColumn> columns) {
        List<OutputField> fields = new ArrayList<>();
        for (SideColumn column : columns) {
            // A name of the facts is not prefixed, as emitters look for reserved columns by name.
            String prefix = column.side() == ChunkDescriptor.FACTS ? "" : "$" + column.side() + ".";
            fields.add(field(column, prefix + column.column(), 0));
        }
        return ResultColumns.of(spec, fields);
    }

    /** Returns the facts of the next stage. */
    static Facts next(ResultColumns carried, Collection<SideColumn> columns) {
        List<RecordField> fields = new ArrayList<>();
        for (int i = 0; i < carried.fields().size(); i++) {
            Column column = carried.schema().column(i);
            RecordField field = carried.fields().get(i).field();
            fields.add(
                    new RecordField(
                            column.name(),
                            field.kind(),
                            column.nullable(),
                            field.type(),
                            field.serializer()));
        }
        return new Facts(carried.schema(), fields, List.copyOf(columns));
    }
}
