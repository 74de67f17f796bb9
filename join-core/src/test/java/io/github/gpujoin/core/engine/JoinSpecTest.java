// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class JoinSpecTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("a", ColumnType.INT32),
                    Column.of("key", ColumnType.INT64),
                    Column.of("text", ColumnType.STRING),
                    Column.of("d", ColumnType.FLOAT64),
                    Column.nullable("maybe", ColumnType.INT64));

    private static DimensionSpec dimension(int keyColumn, int factKeyColumn, JoinKind kind) {
        return new DimensionSpec("part", SCHEMA, keyColumn, factKeyColumn, kind);
    }

    @Test
    void shouldReturnAllFixedWidthColumnsExceptTheKeyOfAnInnerJoin() {
        assertThat(dimension(1, 0, JoinKind.INNER).payloadColumns()).containsExactly(0, 3);
        assertThat(dimension(0, 0, JoinKind.INNER).payloadColumns()).containsExactly(1, 3);
        assertThat(dimension(1, 0, JoinKind.INNER).hasVariableWidthPayload()).isTrue();
    }

    @Test
    void shouldHaveNoPayloadInASemiJoin() {
        assertThat(dimension(1, 0, JoinKind.SEMI).payloadColumns()).isEmpty();
        assertThat(dimension(1, 0, JoinKind.SEMI).hasVariableWidthPayload()).isFalse();
    }

    @Test
    void shouldRejectAJoinWithoutDimensions() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JoinSpec(SCHEMA, List.of()))
                .withMessage("Join has no dimensions.");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 5, Integer.MAX_VALUE})
    void shouldRejectAKeyOutsideTheSchema(int column) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dimension(column, 0, JoinKind.INNER))
                .withMessage("Join key does not exist: input=part, column=%d, columns=5", column);
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> new JoinSpec(SCHEMA, List.of(dimension(1, column, JoinKind.INNER))))
                .withMessage(
                        "Join key does not exist: input=facts of part, column=%d, columns=5",
                        column);
    }

    @ParameterizedTest
    @EnumSource(names = {"LEFT", "ANTI"})
    void shouldRejectGroupColumnsOfDimensionsThatKeepUnmatchedFacts(JoinKind kind) {
        for (int column : new int[] {0, 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> grouped(kind, new JoinColumn(0, column)))
                    .withMessageContaining(
                            "is null for facts without a match: input=part, kind=" + kind);
        }
    }

    @Test
    void shouldRejectANullKeyColumnThatIsNotInt32() {
        List<DimensionSpec> sides = List.of(dimension(1, 0, JoinKind.LEFT));
        for (int column : new int[] {-2, 2, 99}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new JoinSpec(SCHEMA, sides, List.of(), null, column))
                    .withMessageStartingWith("Null-key column");
        }
    }

    @ParameterizedTest
    @CsvSource({"2, STRING", "3, FLOAT64", "4, INT64"})
    void shouldRejectAKeyThatIsNullableOrNotAnInteger(int column, String type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dimension(column, 0, JoinKind.INNER))
                .withMessageContaining("input=part")
                .withMessageContaining("type=" + type);
    }

    private static JoinSpec grouped(JoinKind kind, JoinColumn... columns) {
        Aggregation aggregation = new Aggregation(List.of(columns), List.of(Aggregate.count()));
        return new JoinSpec(SCHEMA, List.of(dimension(1, 0, kind)), List.of(), aggregation);
    }

    @Test
    void shouldGroupByTheFactKeyInsteadOfTheDimensionKey() {
        JoinColumn key = new JoinColumn(0, 1);
        JoinColumn payload = new JoinColumn(0, 0);
        assertThat(grouped(JoinKind.INNER, key, payload).aggregation().groupColumns())
                .containsExactly(JoinColumn.ofFact(0), payload);
        assertThat(grouped(JoinKind.SEMI, key).aggregation().groupColumns())
                .containsExactly(JoinColumn.ofFact(0));
    }

    @Test
    void shouldGroupByTextOfADimensionAndNotAddItUp() {
        JoinColumn text = new JoinColumn(0, 2);
        assertThat(grouped(JoinKind.INNER, text).hasTextGroups()).isTrue();
        assertThat(grouped(JoinKind.INNER, new JoinColumn(0, 0)).hasTextGroups()).isFalse();
        Aggregation sum = new Aggregation(List.of(), List.of(Aggregate.sum(text)));
        List<DimensionSpec> dimensions = List.of(dimension(1, 0, JoinKind.INNER));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JoinSpec(SCHEMA, dimensions, List.of(), sum))
                .withMessageContaining("type=STRING");
    }

    @Test
    void shouldRejectGroupsOfColumnsOutsideTheResults() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> grouped(JoinKind.SEMI, new JoinColumn(0, 0)))
                .withMessageStartingWith(
                        "Column of groups is of a semi join, whose results have no such column:"
                                + " input=part");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> grouped(JoinKind.INNER, new JoinColumn(1, 0)))
                .withMessageContaining("JoinColumn[side=1, column=0]");
    }

    @ParameterizedTest
    @CsvSource({
        "2, STRING, is not an integer",
        "3, FLOAT64, is not an integer",
        "4, INT64, may be null"
    })
    void shouldRejectGroupsAndFiltersOfNullableOrNonIntegerColumns(
            int column, String type, String fault) {
        String values = ", column=%s, type=%s".formatted(SCHEMA.column(column).name(), type);
        for (int side : new int[] {-1, 0}) {
            if (side == 0 && type.equals("STRING")) {
                continue;
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> grouped(JoinKind.INNER, new JoinColumn(side, column)))
                    .withMessageStartingWith("Column of groups %s: input=".formatted(fault))
                    .withMessageEndingWith(
                            values
                                    + ".\nSelect the column instead, and group the rows behind the join.");
        }
        FactFilter filter = new FactFilter(column, ValueRanges.in(1));
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () ->
                                new JoinSpec(
                                        SCHEMA,
                                        List.of(dimension(1, 0, JoinKind.INNER)),
                                        List.of(filter),
                                        null))
                .withMessage(
                        "Filter column %s: input=facts%s. Use a FilterFunction instead."
                                .formatted(fault, values));
    }

    @Test
    void shouldRejectAggregationsOutOfRange() {
        JoinColumn column = JoinColumn.ofFact(0);
        Aggregate count = Aggregate.count();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Aggregation(Collections.nCopies(5, column), List.of(count)))
                .withMessage("Too many group columns: groupColumns=5, maximum=4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Aggregation(List.of(), List.of()))
                .withMessage("Number of counts and sums is out of range (1 to 8): aggregates=0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Aggregation(List.of(), Collections.nCopies(9, count)))
                .withMessage("Number of counts and sums is out of range (1 to 8): aggregates=9");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Aggregation(List.of(), List.of(count), 0))
                .withMessageContaining("maxGroups=0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Aggregate(Collections.nCopies(3, column)))
                .withMessageStartingWith("An aggregate multiplies more than 2 columns");
    }

    @Test
    void shouldPlaceResultArraysOneAfterTheOtherAtCacheLines() {
        JoinSpec spec =
                new JoinSpec(
                        SCHEMA,
                        List.of(dimension(1, 1, JoinKind.INNER), dimension(1, 1, JoinKind.SEMI)));
        ResultLayout layout = new ResultLayout(spec, 17);
        assertThat(layout.capacityRows()).isEqualTo(17);
        assertThat(layout.probeRowOffset()).isZero();
        assertThat(layout.payloadCount(0)).isEqualTo(2);
        assertThat(layout.payloadOffset(0, 0)).as("after 17 ints").isEqualTo(128);
        assertThat(layout.payloadWidth(0, 0)).isEqualTo(4);
        assertThat(layout.payloadOffset(0, 1)).as("after 17 ints").isEqualTo(256);
        assertThat(layout.payloadWidth(0, 1)).isEqualTo(8);
        assertThat(layout.variableWidthOffset(0)).as("after 17 longs").isEqualTo(448);
        assertThat(layout.lengthBytes()).as("after 17 references").isEqualTo(640);
        assertThat(layout.payloadCount(1)).isZero();
        assertThat(layout.variableWidthOffset(1)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2})
    void shouldRejectAFirstRowOutsideTheProbeChunk(int firstRow) {
        Chunk chunk = TestChunks.of(SCHEMA, new Object[] {1, 2L, "x", 3.0, null});
        assertThat(new InFlightProbe(chunk, 1).firstRow()).isEqualTo(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InFlightProbe(chunk, firstRow))
                .withMessageContaining("firstRow=" + firstRow + ", rowCount=1");
    }

    @Test
    void shouldCountRowsWithoutHeaderAndPadding() {
        Chunk rows =
                TestChunks.of(
                        SCHEMA,
                        new Object[] {1, 2L, "abc", 3.0, null},
                        new Object[] {1, 2L, "", 3.0, 9L});
        assertThat(EngineChecks.payloadBytes(rows)).isEqualTo(2 * 20 + (7 + 4) + (4 + 12));
        assertThat(EngineChecks.payloadBytes(TestChunks.of(SCHEMA))).isZero();
    }
}
