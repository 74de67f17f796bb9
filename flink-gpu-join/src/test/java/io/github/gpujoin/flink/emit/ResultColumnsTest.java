// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static io.github.gpujoin.flink.emit.StarFixture.DAYS;
import static io.github.gpujoin.flink.emit.StarFixture.FACTS;
import static io.github.gpujoin.flink.emit.StarFixture.SPEC;
import static io.github.gpujoin.flink.emit.StarFixture.columns;
import static io.github.gpujoin.flink.emit.StarFixture.fact;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
                        "every result column is a field of the record: column=aLong,"
                                + " fields=[c_size], class=");
        assertThatThrownBy(
                        () ->
                                ResultEmitters.records(
                                        columns(List.of(), List.of("c_size")),
                                        TypeInformation.of(WrongSize.class)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "a result column and its field have one type: column=c_size,"
                                + " columnType=Double, fieldType=Integer");
        assertThatThrownBy(() -> ResultEmitters.records(columns, Types.STRING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the class is a POJO by Flink's rules");
    }

    @Test
    void shouldRefuseColumnsThatResultsDoNotHold() {
        RecordField key = DAYS.field("d_key");

        assertThatThrownBy(
                        () -> ResultColumns.of(SPEC, List.of(OutputField.ofDimension(1, 0, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a semi or anti join gives no columns of its dimension");
        assertThatThrownBy(
                        () -> ResultColumns.of(SPEC, List.of(OutputField.ofDimension(2, 0, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a result column is of a side of the join");
        assertThatThrownBy(() -> ResultColumns.of(SPEC, List.of(OutputField.ofFact(99, key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a result column is a column of its side");
        assertThatThrownBy(
                        () ->
                                ResultColumns.of(
                                        SPEC,
                                        List.of(
                                                OutputField.ofFact(
                                                        FACTS.schema().require("anInt"), key))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("a result column is read as what it is");
        assertThatThrownBy(() -> ResultColumns.of(SPEC, List.of(fact("text"), fact("text"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("text");
    }
}
