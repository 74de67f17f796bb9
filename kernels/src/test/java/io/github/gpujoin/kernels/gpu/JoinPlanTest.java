// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JoinPlanTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("bits", ColumnType.INT32));

    private static void requireFits(JoinKind kind, int dimensions) {
        DimensionSpec part = new DimensionSpec("part", SCHEMA, 0, 0, kind);
        JoinSpec spec =
                new JoinSpec(SCHEMA, Collections.nCopies(dimensions, part), List.of(), null, 1);
        JoinPlan.requireFits(spec, new FactSegments(spec, false));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAcceptEveryKindAndFactsWithNullKeys(JoinKind kind) {
        assertThatNoException().isThrownBy(() -> requireFits(kind, PlanDescriptor.MAX_DIMENSIONS));
    }

    @Test
    void shouldRejectMoreDimensionsThanTheKernelsSupport() {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> requireFits(JoinKind.INNER, PlanDescriptor.MAX_DIMENSIONS + 1))
                .withMessageContaining("dimensions=17, maxDimensions=16, factColumns=2")
                .extracting(GpuUnavailableException::failure)
                .isEqualTo(GpuFailure.UNSUPPORTED_JOIN);
    }
}
