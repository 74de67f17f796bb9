// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.benchmarks.model.PublishedPoint.Use;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page is what the model says; if not: {@code bin/bench model --docs docs}. */
class PerformanceModelTest {

    private static final PerformanceModel MODEL = new PerformanceModel();

    static List<PublishedPoint> points() {
        return MODEL.points();
    }

    @Test
    void shouldBeOnThePageWhatTheModelSays() {
        assertThat(Path.of("..", "docs", "performance-model.md")).hasContent(MODEL.markdown());
    }

    @ParameterizedTest
    @MethodSource("points")
    void shouldReproduceEachPointThatItClaims(PublishedPoint point) {
        if (point.use() == Use.BEYOND) {
            assertThat(point.remark()).isNotBlank();
        } else {
            assertThat(Math.abs(point.errorPercent()))
                    .isLessThanOrEqualTo(PublishedPoint.LIMIT_PERCENT);
        }
    }

    @Test
    void shouldClaimAllPointsButOne() {
        assertThat(points())
                .filteredOn(point -> point.use() == Use.BEYOND)
                .extracting(PublishedPoint::id)
                .containsExactly("blocking-4-nodes");
        assertThat(points()).extracting(PublishedPoint::id).doesNotHaveDuplicates();
    }

    @Test
    void shouldFitFewerConstantsThanItHasPoints() {
        assertThat(MODEL.thousandGpus().constants())
                .hasSizeLessThan(MODEL.thousandGpus().points().size());
        assertThat(MODEL.rdmaJoin().constants()).hasSize(1);
        assertThat(points())
                .filteredOn(point -> point.use() == Use.VALIDATED)
                .hasSizeGreaterThan(7);
    }

    @Test
    void shouldCallAPointThatDiffersTooMuchUnacceptable() {
        PublishedPoint near = PublishedPoint.validated("p", "s", "w", 100, 114.9, "u");
        PublishedPoint far = PublishedPoint.validated("p", "s", "w", 100, 84.9, "u");
        assertThat(near.isAcceptable()).isTrue();
        assertThat(far.isAcceptable()).isFalse();
        assertThat(far.beyond("a reason").isAcceptable()).isTrue();
    }

    /** Gao and Sakharnykh, section 6.3: two levels for small tables, one level for large ones. */
    @ParameterizedTest
    @ValueSource(doubles = {1e6, 5e6, 20e6, 30e6, 200e6})
    void shouldPreferTheShuffleThatThePaperPrefers(double rows) {
        RepartitionedJoin join =
                MODEL.thousandGpus()
                        .join(
                                ThousandGpus.CROSSING_DEVICES,
                                ThousandGpus.RANDOM.withRows(rows, rows));
        if (rows < Inputs.CROSSING_ROWS.base()) {
            assertThat(join.twoLevel().seconds()).isLessThan(join.oneLevel().seconds());
        } else {
            assertThat(join.oneLevel().seconds()).isLessThan(join.twoLevel().seconds());
        }
    }

    /** Gao and Sakharnykh, section 6.4: both stay constant from 64 to 1024 GPUs. */
    @Test
    void shouldCompressInTheTimeOfThePaperWithAnyNumberOfNodes() {
        for (int devices : List.of(64, 256, 1024)) {
            Stage join =
                    MODEL.thousandGpus()
                            .join(devices, ThousandGpus.TPCH)
                            .compressed(MODEL.thousandGpus().compression());
            assertThat(join.secondsOf("compress")).isCloseTo(46e-3, within(1e-9));
            assertThat(join.secondsOf("decompress")).isCloseTo(20e-3, within(1e-9));
        }
    }

    /** Gao and Sakharnykh, section 6.2: 667 G tuples/s are 10677 GB/s. */
    @Test
    void shouldJoinTheBytesOfThePaper() {
        TablePair random = ThousandGpus.RANDOM;
        assertThat(random.bytes() * ThousandGpus.MOST_DEVICES).isCloseTo(16384e9, within(1.0));
        assertThat(667 * random.bytes() / random.rows()).isCloseTo(10677, within(10.0));
    }

    @Test
    void shouldFitNoRateAboveTheSpecification() {
        assertThat(MODEL.thousandGpus().network().bytesPerS()).isLessThan(Inputs.HDR.base());
    }

    @Test
    void shouldFindTheZeroOfAMonotoneFunction() {
        assertThat(Fit.zero(x -> x * x - 2, 0, 2)).isCloseTo(Math.sqrt(2), within(1e-12));
        assertThat(Fit.zero(x -> 3 - x, 0, 10)).isCloseTo(3, within(1e-12));
        assertThatThrownBy(() -> Fit.zero(x -> x + 1, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("low=0.0, high=1.0");
    }
}
