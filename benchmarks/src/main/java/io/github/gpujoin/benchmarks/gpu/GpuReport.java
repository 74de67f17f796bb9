// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.github.gpujoin.benchmarks.join.Machine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * One run of {@code bin/bench gpu}: a JSON document, and what of it is printed.
 *
 * @param time of the start, ISO 8601
 * @param command that gives such a run
 * @param gpu name of the device
 * @param elapsedS wall time of the run
 */
public record GpuReport(
        String time,
        String command,
        Machine machine,
        String gpu,
        double elapsedS,
        List<Figure> figures) {

    private static final ObjectMapper MAPPER =
            new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    public GpuReport {
        figures = List.copyOf(figures);
    }

    @JsonIgnore
    public boolean isCorrect() {
        return figures.stream().allMatch(Figure::correct);
    }

    public static GpuReport read(Path file) {
        try {
            return MAPPER.readValue(file.toFile(), GpuReport.class);
        } catch (IOException e) {
            throw new UncheckedIOException("a report is readable: file=" + file, e);
        }
    }

    /** Writes the whole document or, on an error, nothing under that name. */
    public void write(Path file) throws IOException {
        Path absolute = file.toAbsolutePath();
        Files.createDirectories(absolute.getParent());
        Path part = absolute.resolveSibling(absolute.getFileName() + ".part");
        Files.writeString(part, MAPPER.writeValueAsString(this) + System.lineSeparator());
        Files.move(part, absolute, StandardCopyOption.REPLACE_EXISTING);
    }
}
