// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.kernels.binding.GpuFailure;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GpuFailureReasonTest {

    @ParameterizedTest
    @EnumSource
    void shouldKnowEveryReasonForWhichAGpuDoesNotJoin(GpuFailure failure) {
        assertThat(GpuFailureReason.of(failure)).hasToString(failure.name());
    }
}
