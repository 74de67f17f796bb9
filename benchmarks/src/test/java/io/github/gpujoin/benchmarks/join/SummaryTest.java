// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTest {

    @Test
    void shouldTakeTheMiddleOfAnOddNumber() {
        assertThat(Summary.of(List.of(5.0, 1.0, 100.0))).isEqualTo(new Summary(1, 5, 100));
    }

    @Test
    void shouldTakeTheMeanOfTheTwoInTheMiddleOfAnEvenNumber() {
        assertThat(Summary.of(List.of(4.0, 1.0, 2.0, 100.0))).isEqualTo(new Summary(1, 3, 100));
    }

    @Test
    void shouldRejectNothing() {
        assertThatThrownBy(() -> Summary.of(List.of()))
                .hasMessage("a summary is of something: figures=[]");
    }
}
