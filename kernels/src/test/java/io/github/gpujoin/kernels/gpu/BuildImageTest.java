// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Builds on a machine without nvcc. */
class BuildImageTest {
    @TempDir Path folder;

    @Test
    void shouldWarnAndRemoveTheImageOfAnEarlierBuildWithoutNvcc() throws Exception {
        Path image =
                Files.writeString(folder.resolve("engine.fatbin"), "image of an earlier build");

        assertThat(build(image)).isZero();
        assertThat(output())
                .contains("[WARNING] kernels: nvcc not found: NVCC=/nonexistent/nvcc.")
                .contains("contains no CUDA kernels");
        assertThat(image).doesNotExist();
    }

    private int build(Path image) throws Exception {
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of("build-image.sh").toAbsolutePath().toString(),
                        folder.resolve("cache").toString(),
                        "engine/engine.cu",
                        image.toString());
        builder.environment().put("NVCC", "/nonexistent/nvcc");
        Process process =
                builder.redirectErrorStream(true)
                        .redirectOutput(folder.resolve("output").toFile())
                        .start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    private String output() throws Exception {
        return Files.readString(folder.resolve("output"));
    }
}
