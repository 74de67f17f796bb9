package io.github.gpujoin.flink.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.kernels.binding.GpuFailure;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReasonCodeTest {

    @ParameterizedTest
    @EnumSource
    void shouldKnowEveryReasonForWhichAGpuDoesNotJoin(GpuFailure failure) {
        assertThat(ReasonCode.of(failure)).hasToString(failure.name());
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhatEachCodeMeans(ReasonCode code) {
        assertThat(code.sentence()).hasSizeGreaterThan(20).doesNotEndWith(".");
    }
}
