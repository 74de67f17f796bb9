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
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JoinPlanTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("bits", ColumnType.INT32));

    private static JoinSpec spec(JoinKind kind, int nullKeysColumn) {
        return new JoinSpec(
                SCHEMA,
                List.of(new DimensionSpec("part", SCHEMA, 0, 0, kind)),
                List.of(),
                null,
                nullKeysColumn);
    }

    private static void requireFits(JoinSpec spec) {
        JoinPlan.requireFits(spec, new FactSegments(spec));
    }

    @ParameterizedTest
    @EnumSource(
            value = JoinKind.class,
            names = {"INNER", "SEMI"})
    void shouldTakeKindsThatDropUnmatchedFacts(JoinKind kind) {
        assertThatNoException().isThrownBy(() -> requireFits(spec(kind, JoinSpec.NO_NULL_KEYS)));
    }

    @ParameterizedTest
    @EnumSource(
            value = JoinKind.class,
            names = {"LEFT", "ANTI"})
    void shouldRefuseKindsThatKeepUnmatchedFactsAndSayWhichDimension(JoinKind kind) {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> requireFits(spec(kind, JoinSpec.NO_NULL_KEYS)))
                .withMessageContaining("dimension=part, kind=" + kind)
                .extracting(GpuUnavailableException::failure)
                .isEqualTo(GpuFailure.UNSUPPORTED_KIND);
    }

    @ParameterizedTest
    @EnumSource(
            value = JoinKind.class,
            names = {"INNER", "SEMI"})
    void shouldRefuseNullKeys(JoinKind kind) {
        assertThatExceptionOfType(GpuUnavailableException.class)
                .isThrownBy(() -> requireFits(spec(kind, 1)))
                .withMessageContaining("no null keys: column=")
                .extracting(GpuUnavailableException::failure)
                .isEqualTo(GpuFailure.UNSUPPORTED_KIND);
    }
}
