// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static io.github.gpujoin.flink.emit.StarFixture.DAYS;
import static io.github.gpujoin.flink.emit.StarFixture.FACTS;
import static io.github.gpujoin.flink.emit.StarFixture.SPEC;
import static io.github.gpujoin.flink.emit.StarFixture.columns;
import static io.github.gpujoin.flink.emit.StarFixture.fact;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.record.RecordField;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.junit.jupiter.api.Test;

class ResultColumnsTest {

    /** Has a field of another type than the column. */
    public static class WrongSize {
        public Integer c_size;
    }

    @Test
    void shouldRefuseAPojoThatDoesNotFitWhenTheJobIsPutTogether() {
        ResultColumns columns = columns(List.of("aLong"), List.of("c_size"));

        assertThatThrownBy(
                        () -> ResultEmitters.records(columns, TypeInformation.of(WrongSize.class)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "The result class lacks a field for a column: column=aLong,"
                                + " fields=[c_size], class=");
        assertThatThrownBy(
                        () ->
                                ResultEmitters.records(
                                        columns(List.of(), List.of("c_size")),
                                        TypeInformation.of(WrongSize.class)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "A result column and its field differ in type: column=c_size,"
                                + " columnType=Double, fieldType=Integer");
        assertThatThrownBy(() -> ResultEmitters.records(columns, Types.STRING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The class is not a POJO by Flink's rules");
    }

    @Test
    void shouldRefuseColumnsThatResultsDoNotHold() {
        RecordField key = DAYS.field("d_key");

        JoinSpec anti =
                new JoinSpec(
                        FACTS.schema(),
                        List.of(
                                new DimensionSpec(
                                        "day",
                                        DAYS.schema(),
                                        0,
                                        FACTS.schema().require("anInt"),
                                        JoinKind.ANTI)));
        assertThatThrownBy(
                        () -> ResultColumns.of(anti, List.of(OutputField.ofDimension(0, 0, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "A column of a semi-joined or anti-joined dimension was selected");
        assertThatThrownBy(
                        () -> ResultColumns.of(SPEC, List.of(OutputField.ofDimension(2, 0, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A result column names an unknown side of the join");
        assertThatThrownBy(() -> ResultColumns.of(SPEC, List.of(OutputField.ofFact(99, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A result column names an unknown column of its side");
        assertThatThrownBy(
                        () ->
                                ResultColumns.of(
                                        SPEC,
                                        List.of(
                                                OutputField.ofFact(
                                                        FACTS.schema().require("anInt"), key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Type of a result column differs from that of its source");
        assertThatThrownBy(() -> ResultColumns.of(SPEC, List.of(fact("text"), fact("text"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("text");
    }
}
