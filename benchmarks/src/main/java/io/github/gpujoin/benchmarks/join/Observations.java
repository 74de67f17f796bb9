// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What one command observed of a job: lines {@code RESULT name key=value ...}, printed as they
 * come, and all of them as a JSON document with the machine and the command. Not thread-safe.
 */
public final class Observations {

    private final ObjectMapper mapper = new ObjectMapper();
    private final ObjectNode document = mapper.createObjectNode();
    private final ArrayNode observations;
    private final PrintWriter out;

    public Observations(String command, PrintWriter out) {
        this.out = out;
        document.put("time", Instant.now().toString());
        document.put("command", command);
        document.set("machine", mapper.valueToTree(Machine.here()));
        this.observations = document.putArray("observations");
    }

    /**
     * Prints and keeps an observation.
     *
     * @param pairs name, value, name, value, ...; names carry units, numbers have as many digits as
     *     mean something
     */
    public void add(String what, Object... pairs) {
        Map<String, Object> values = new LinkedHashMap<>();
        StringBuilder line = new StringBuilder("RESULT ").append(what);
        for (int i = 0; i < pairs.length; i += 2) {
            Object value = pairs[i + 1];
            if (value instanceof Double number) {
                value = Double.valueOf(String.format(Locale.ROOT, "%.4g", number));
            }
            values.put((String) pairs[i], value);
            line.append(' ').append(pairs[i]).append('=').append(text(value));
        }
        out.println(line);
        out.flush();
        observations.addObject().put("name", what).set("values", mapper.valueToTree(values));
    }

    private static String text(Object value) {
        return value instanceof Double number && number == Math.rint(number)
                ? String.valueOf(number.longValue())
                : String.valueOf(value);
    }

    /** Writes the whole document or, on an error, nothing under that name. */
    public void write(Path file) throws IOException {
        Path absolute = file.toAbsolutePath();
        Files.createDirectories(absolute.getParent());
        Path part = absolute.resolveSibling(absolute.getFileName() + ".part");
        Files.writeString(part, document.toPrettyString() + System.lineSeparator());
        Files.move(part, absolute, StandardCopyOption.REPLACE_EXISTING);
    }
}
