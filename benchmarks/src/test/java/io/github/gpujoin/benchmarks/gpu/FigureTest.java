// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.kernels.gpu.RingMemory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FigureTest {

    private static final Figure FIGURE =
            Figure.of(
                            "ring-probe",
                            Figure.parameters("chunk_rows", 8192, "keys", "dense"),
                            "Grows/s",
                            List.of(3.0, 1.0, 2.0))
                    .boundedBy("zero-copy-read", 4.0)
                    .checked(true, 42, -1L);

    @Test
    void shouldPrintOneLineForPrograms() {
        assertThat(FIGURE.line())
                .isEqualTo(
                        "RESULT ring-probe chunk_rows=8192 keys=dense unit=Grows/s median=2.00000"
                                + " rounds=3.00000,1.00000,2.00000 bound=4.00000"
                                + " bounded_by=zero-copy-read share=0.500 count=42"
                                + " checksum=18446744073709551615 check=ok");
    }

    @Test
    void shouldReadWhatItPrints() {
        assertThat(Figure.parse(FIGURE.line())).isEqualTo(FIGURE);
    }

    @Test
    void shouldReadALineOfTheNativeBenchmarks() {
        String line =
                "RESULT sort-merge-join word_bits=64 zipf=1.5 unit=Gtuples/s rounds=15,16.5,14"
                        + " check=WRONG count=7 checksum=9";
        Figure figure = Figure.parse(line);
        assertThat(figure.correct()).isFalse();
        assertThat(figure.summary().median()).isEqualTo(15);
        assertThat(figure.number("zipf")).isEqualTo(1.5);
        assertThat(figure.bound()).isNull();
        assertThat(figure.share()).isNaN();
    }

    @Test
    void shouldRejectAWordWithoutAName() {
        assertThatThrownBy(() -> Figure.parse("RESULT x rounds=1 oops"))
                .hasMessage("values have names: word=oops");
    }

    @Test
    void shouldBoundARateByTheSlowerDirectionOfTheBus() {
        Ceilings ceilings = new Ceilings(55, 50, 60, 4000);
        Figure reading = ceilings.bound(FIGURE, RingMemory.HOST, 16, 12);
        assertThat(reading.boundedBy()).isEqualTo("zero-copy-read");
        assertThat(reading.bound()).isCloseTo(3.125, within(1e-9));
        Figure copying = ceilings.bound(FIGURE, RingMemory.DEVICE, 16, 12);
        assertThat(copying.boundedBy()).isEqualTo("h2d-copy");
        assertThat(copying.bound()).isCloseTo(3.4375, within(1e-9));
        Figure writing = ceilings.bound(FIGURE, RingMemory.DEVICE, 16, 24);
        assertThat(writing.boundedBy()).isEqualTo("zero-copy-write");
        assertThat(writing.bound()).isCloseTo(2.5, within(1e-9));
    }

    @Test
    void shouldKeepAReportInAFile(@TempDir Path dir) throws Exception {
        GpuReport report =
                new GpuReport(
                        "2026-01-01T00:00:00Z",
                        "bin/bench gpu",
                        Machine.here(),
                        "A GPU",
                        1.5,
                        List.of(FIGURE, Figure.of("x", Map.of(), "s", List.of(1.0))));
        Path file = dir.resolve("deep/report.json");
        report.write(file);
        assertThat(GpuReport.read(file)).isEqualTo(report);
    }
}
