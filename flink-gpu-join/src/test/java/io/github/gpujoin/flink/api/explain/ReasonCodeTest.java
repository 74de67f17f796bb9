// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReasonCodeTest {

    @ParameterizedTest
    @EnumSource
    void shouldSayWhatEachCodeMeans(ReasonCode code) {
        assertThat(code.sentence()).hasSizeGreaterThan(20).doesNotEndWith(".");
    }
}
