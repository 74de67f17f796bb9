// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.kernels.gpu.SemiJoinCall.Condition;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Result;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Side;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Descriptions of semi-joins, and what of their kernels also compiles for the CPU. */
class SemiJoinCallTest {

    @Test
    void shouldPassAllChecksOfDeviceFunctions() throws Exception {
        HostProgram program = HostProgram.compile(Path.of("src/test/cuda/semi_join_host_test.cpp"));
        assertThat(program.run()).containsExactly("failures=0");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 16})
    void shouldRejectConditionOfUnsupportedWidth(int widthBytes) {
        assertThatThrownBy(() -> new Condition(16, 0, 0, 1, widthBytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("widthBytes=" + widthBytes);
    }

    @Test
    void shouldRejectComparisonOfWideColumns() {
        assertThat(new Condition(16, 32, 0, 1, 4).isPresent()).isTrue();
        assertThatThrownBy(() -> new Condition(16, 32, 0, 1, 8))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("widthBytes=8");
    }

    @Test
    void shouldRejectEmptyRange() {
        assertThatThrownBy(() -> new Condition(16, 0, 2, 1, 4))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("low=2, high=1");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 11})
    void shouldRejectExpectedRowsOutOfRange(long expected) {
        assertThatThrownBy(() -> Side.of(16, 10).withExpectedRows(expected))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected=" + expected + ", rows=10");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1025})
    void shouldRejectNumberOfGroupsOutOfRange(int groups) {
        assertThatThrownBy(() -> new Result(16, 1, groups, 16, 0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("groups=" + groups);
    }
}
