// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The join comparison as a JSON document: machine, versions, command and all figures. */
public final class JsonReport {

    private final ObjectMapper mapper = new ObjectMapper();
    private final ObjectNode document = mapper.createObjectNode();

    public JsonReport(
            Machine machine,
            Map<String, String> versions,
            String command,
            List<ContenderResult> results) {
        document.put("time", Instant.now().toString());
        document.put("command", command);
        document.set("machine", mapper.valueToTree(machine));
        document.set("versions", mapper.valueToTree(new TreeMap<>(versions)));
        ArrayNode contenders = document.putArray("contenders");
        results.forEach(result -> add(contenders.addObject(), result));
    }

    private void add(ObjectNode node, ContenderResult result) {
        Summary rate = result.tuplesPerSecond();
        node.put("name", result.name());
        node.put("probeRows", result.probeRows());
        node.put("tuplesPerSecondMin", rate.min());
        node.put("tuplesPerSecondMedian", rate.median());
        node.put("tuplesPerSecondMax", rate.max());
        node.put("correct", result.isCorrect());
        ArrayNode rounds = node.putArray("rounds");
        for (Measurement round : result.rounds()) {
            ObjectNode measured = rounds.addObject();
            measured.put("elapsedNs", round.elapsedNs());
            measured.put("tuplesPerSecond", round.tuplesPerSecond());
            measured.put("count", round.answer().count());
            measured.put("checksum", round.answer().checksum());
            measured.set("details", mapper.valueToTree(new TreeMap<>(round.details())));
        }
    }

    /** Writes the whole document or, on an error, nothing under that name. */
    public void write(Path file) throws IOException {
        Path absolute = file.toAbsolutePath();
        Files.createDirectories(absolute.getParent());
        Path part = absolute.resolveSibling(absolute.getFileName() + ".part");
        Files.writeString(part, toString());
        Files.move(part, absolute, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public String toString() {
        return document.toPrettyString() + System.lineSeparator();
    }
}
