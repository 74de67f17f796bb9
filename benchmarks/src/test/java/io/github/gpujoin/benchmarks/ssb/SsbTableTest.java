// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class SsbTableTest {

    private static SsbFigure figure(String contender, String query, double startup, Double... s) {
        return new SsbFigure(contender, query, List.of(s), startup, 6000, true);
    }

    @Test
    void shouldAddUpMediansWithAndWithoutStartUp() {
        SsbTable table =
                new SsbTable(
                        List.of(
                                figure("ours", "1.1", 1, 3.0, 2.0, 9.0),
                                figure("duckdb", "1.1", 0.5, 1.0),
                                figure("ours", "1.2", 1, 5.0),
                                figure("duckdb", "1.2", 0.5, 1.0)));
        assertThat(table.totals())
                .containsExactly(
                        new SsbTable.Total("ours", 2, 8, 6, 4, 6),
                        new SsbTable.Total("duckdb", 2, 2, 1, 1, 1));
        assertThat(table.text().lines())
                .containsExactly(
                        "query                  ours                duckdb",
                        "1.1          3.000 (1.000)         1.000 (0.500) ",
                        "1.2          5.000 (1.000)         1.000 (0.500) ");
    }

    @Test
    void shouldCompareWithNothingWithoutDuckDb() {
        assertThat(
                        new SsbTable(List.of(figure("ours", "1.1", 1, 3.0)))
                                .totals()
                                .get(0)
                                .timesDuckDb())
                .isNaN();
    }

    @Test
    void shouldRateRowsWithoutStartUp() {
        assertThat(figure("ours", "1.1", 1, 3.0).rowsPerSecond()).isEqualTo(3000, within(1e-9));
    }

    @Test
    void shouldNotTellWorkFromTheNoiseOfStartUp() {
        SsbFigure figure = figure("ours", "1.1", 3, 2.0);
        assertThat(figure.workSeconds()).isEqualTo(figure.startupSeconds() / 10, within(1e-9));
        assertThat(figure.rowsPerSecond()).isFinite();
    }
}
