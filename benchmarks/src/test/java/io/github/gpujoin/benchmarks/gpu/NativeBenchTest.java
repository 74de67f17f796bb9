// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeBenchTest {

    private static final String FIGURE = "RESULT join devices=$2 unit=ms rounds=3,1,2 check=ok";

    private final List<String> progress = new ArrayList<>();

    @TempDir private Path folder;

    private Path program(String name, String... lines) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void shouldReadFiguresAndReportOtherLines() throws Exception {
        Path program = program("gpu_bench", "echo warm", "echo " + FIGURE);
        List<Figure> figures = new NativeBench(program, progress::add).run("join", 4);
        assertThat(figures).singleElement().matches(figure -> figure.is("join", "devices", 4));
        assertThat(progress).containsExactly("warm");
    }

    @Test
    void shouldRunTheProgramInTheSameFolder() throws Exception {
        NativeBench bench = new NativeBench(program("gpu_bench", "exit 1"), progress::add);
        program("bulk_bench", "echo " + FIGURE);
        assertThat(bench.sibling("bulk_bench").run("papers", 29))
                .singleElement()
                .matches(figure -> figure.is("join", "devices", 29));
        assertThatThrownBy(() -> bench.run("check"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("exit=1");
    }

    @Test
    void shouldNameAMissingProgram() throws Exception {
        NativeBench bench = new NativeBench(program("gpu_bench", "exit 0"), progress::add);
        assertThatThrownBy(() -> bench.sibling("bulk_bench"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(folder.resolve("bulk_bench").toString());
    }

    @Test
    void shouldReturnWrongAnswersAsFigures() throws Exception {
        Path program = program("gpu_bench", "echo " + FIGURE.replace("ok", "WRONG"), "exit 1");
        assertThat(new NativeBench(program, progress::add).run("join", 1))
                .singleElement()
                .matches(figure -> !figure.correct());
    }
}
