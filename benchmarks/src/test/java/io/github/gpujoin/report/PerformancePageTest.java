// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page is what the committed results say; if not: {@code bin/bench report}. */
class PerformancePageTest {

    private static final Path ROOT = Path.of("..");
    private static final Path PICTURES = ROOT.resolve("docs").resolve(PerformancePage.PICTURES);

    private static PerformancePage page() throws Exception {
        return PerformancePage.of(ROOT.resolve("benchmarks/results"));
    }

    @Test
    void shouldBeWhatTheCommittedResultsSay() throws Exception {
        assertThat(ROOT.resolve("docs/performance.md")).hasContent(page().markdown());
    }

    @Test
    void shouldShowInEachPictureWhatTheCommittedResultsSay() throws Exception {
        for (var plot : page().plots().entrySet()) {
            assertThat(PICTURES.resolve(plot.getKey()))
                    .content()
                    .contains("data " + plot.getValue().digest());
        }
    }

    @Test
    void shouldLeaveNoPictureThatThePageDoesNotShow() throws Exception {
        try (Stream<Path> files = Files.list(PICTURES)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(page().plots().keySet());
        }
    }

    @Test
    void shouldDrawTheSamePictureEachTime() {
        Plot plot =
                new Plot("title", "x", "y", false, List.of("a", "b"))
                        .measured("m", List.of(1.0, 2.0))
                        .limit("l", List.of(3.0, 3.0));
        assertThat(plot.svg()).isEqualTo(plot.svg()).contains("data " + plot.digest());
    }

    @Test
    void shouldTellPicturesOfDifferentValuesApart() {
        Plot one = new Plot("t", "x", "y", true, List.of("a")).measured("m", List.of(1.0));
        Plot two = new Plot("t", "x", "y", true, List.of("a")).measured("m", List.of(1.01));
        assertThat(one.digest()).isNotEqualTo(two.digest());
    }
}
