// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.api.PairJoin;
import io.github.gpujoin.flink.simulation.JobShape.Api;
import io.github.gpujoin.flink.simulation.JobShape.DimensionShape;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;

/** A join of two streams of whole records. Its results are the number of the fact and the value. */
final class PairJob {

    private PairJob() {}

    static SingleOutputStreamOperator<Row> join(
            DimensionShape shape, DataStream<Row> rows, DataStream<Row> facts) {
        PairJoin.Keyed<Row, Row> join =
                PairJoin.build(rows)
                        .probe(facts)
                        .where(row -> row.<Long>getFieldAs(0), Types.LONG)
                        .equalTo(fact -> fact.<Long>getFieldAs(1), Types.LONG)
                        .uid("join");
        if (!shape.partitioned()) {
            join.replicated();
        }
        if (shape.api() == Api.PAIR_WITH_CONDITION) {
            join.matching((row, fact) -> shape.isMatch(row.getFieldAs(1), fact.getFieldAs(0)));
        }
        switch (shape.kind()) {
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
            case INNER -> {}
        }
        return shape.isSelected()
                ? join.apply(
                        (row, fact) ->
                                Row.of(
                                        fact == null ? null : fact.getField(0),
                                        row == null ? null : row.getField(1)),
                        Types.ROW(Types.LONG, Types.LONG))
                : join.apply((row, fact) -> Row.of(fact.getField(0)), Types.ROW(Types.LONG));
    }
}
