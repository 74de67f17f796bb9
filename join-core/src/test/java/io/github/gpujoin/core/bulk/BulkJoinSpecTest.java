// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BulkJoinSpecTest {

    private static final ChunkSchema ORDERS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("customer", ColumnType.INT32),
                    Column.nullable("note", ColumnType.STRING),
                    Column.of("weight", ColumnType.FLOAT64));

    private static final ChunkSchema CUSTOMERS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("name", ColumnType.STRING),
                    Column.of("region", ColumnType.INT8));

    private static BulkJoinSpec spec(BulkJoinKind kind, BulkOutput output) {
        return new BulkJoinSpec(
                new BulkInput("orders", ORDERS, List.of(1)),
                new BulkInput("customers", CUSTOMERS, List.of(0)),
                kind,
                false,
                output);
    }

    private static void assertRejects(Runnable call, String message) {
        assertThatIllegalArgumentException().isThrownBy(call::run).withMessage(message);
    }

    @Test
    void shouldNameResultColumnsByTheirInput() {
        BulkJoinSpec spec =
                spec(BulkJoinKind.FULL, new BulkOutput.Rows(List.of(2, 0), List.of(0, 1)));
        assertThat(spec.resultSchema(ResultSides.BOTH))
                .hasToString(
                        "(orders.note STRING NULL, orders.id INT64,"
                                + " customers.id INT64, customers.name STRING)");
        assertThat(spec.resultSchema(ResultSides.LEFT))
                .hasToString("(orders.note STRING NULL, orders.id INT64)");
        assertThat(spec.resultSchema(ResultSides.RIGHT))
                .hasToString("(customers.id INT64, customers.name STRING)");
    }

    @Test
    void shouldRejectInputs() {
        BulkOutput count = new BulkOutput.Count();
        BulkInput orders = new BulkInput("orders", ORDERS, List.of(1));
        assertRejects(
                () -> new BulkInput("orders", ORDERS, List.of()),
                "Input has no key columns: input=orders");
        assertRejects(
                () -> new BulkInput("orders", ORDERS, List.of(4)),
                "Key column does not exist: input=orders, column=4, columns=4");
        assertRejects(
                () -> new BulkInput("orders", ORDERS, List.of(3)),
                "Key column contains floating-point numbers: input=orders,"
                        + " column=Column[name=weight, type=FLOAT64, nullable=false]. Cast it.");
        assertRejects(
                () -> new BulkJoinSpec(orders, orders, BulkJoinKind.INNER, false, count),
                "Both inputs have the same name: name=orders. Rename one.");
        assertRejects(
                () ->
                        new BulkJoinSpec(
                                orders,
                                new BulkInput("customers", CUSTOMERS, List.of(1)),
                                BulkJoinKind.INNER,
                                false,
                                count),
                "Key types differ: orders.customer is INT32, customers.name is STRING."
                        + " Cast one side.");
        assertRejects(
                () ->
                        new BulkJoinSpec(
                                orders,
                                new BulkInput("customers", CUSTOMERS, List.of(0, 2)),
                                BulkJoinKind.INNER,
                                false,
                                count),
                "Keys have different numbers of columns: orders=1, customers=2");
    }

    @Test
    void shouldRejectColumnsThatTheKindDoesNotReturn() {
        assertRejects(
                () -> spec(BulkJoinKind.SEMI, new BulkOutput.Rows(List.of(0), List.of(1))),
                "Join kind returns no columns of an input:"
                        + " kind=SEMI, input=customers, columns=[1]");
        assertRejects(
                () -> spec(BulkJoinKind.INNER, new BulkOutput.Rows(List.of(0), List.of(9))),
                "Output column does not exist: input=customers, column=9, columns=3");
        assertRejects(
                () -> new BulkOutput.Rows(List.of(0, 1, 0), List.of(2)),
                "Output column repeats: leftColumns=[0, 1, 0], rightColumns=[2]");
    }

    @ParameterizedTest
    @CsvSource({
        "INNER, 1, 2, true",
        "INNER, 0, 0, true",
        "INNER, 1, 1, false",
        "INNER, 0, 2, false",
        "INNER, 2, 0, false",
        "INNER, -1, 0, false",
        "LEFT, 0, 0, true",
        "LEFT, 1, 2, false",
        "RIGHT, 0, 0, false",
        "RIGHT, 1, 2, true",
        "FULL, 0, 0, false",
        "SEMI, 0, 0, true",
        "SEMI, 1, 2, false",
        "ANTI, 0, 0, true"
    })
    void shouldGroupByIntegersOfEveryResult(
            BulkJoinKind kind, int side, int column, boolean isLegal) {
        BulkOutput output =
                new BulkOutput.Groups(
                        new Aggregation(
                                List.of(new JoinColumn(side, column)), List.of(Aggregate.count())));
        if (isLegal) {
            assertThat(spec(kind, output).outputColumns(JoinSide.values()[side]))
                    .containsExactly(column);
        } else {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> spec(kind, output))
                    .withMessageStartingWith("Column of groups ");
        }
    }

    @Test
    void shouldRejectEqualNullsOfAKeyColumnThatDoesNotExist() {
        assertRejects(
                () ->
                        new BulkJoinSpec(
                                new BulkInput("orders", ORDERS, List.of(1)),
                                new BulkInput("customers", CUSTOMERS, List.of(0)),
                                BulkJoinKind.INNER,
                                Set.of(1, 0),
                                new BulkOutput.Count()),
                "No such key column to have equal nulls: positions=[0, 1], keyColumns=1");
    }
}
