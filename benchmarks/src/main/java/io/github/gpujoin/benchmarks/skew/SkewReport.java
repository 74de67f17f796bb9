// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gpujoin.benchmarks.skew.SkewEngine.Mode;
import io.github.gpujoin.benchmarks.skew.SkewEngine.Span;
import io.github.gpujoin.benchmarks.skew.SkewedFacts.HeavyKey;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The report as one HTML file that needs no network: page, figures and the chart library in one.
 */
final class SkewReport {

    private static final String PAGE = "skew-report.html";
    private static final String CHARTS =
            "/META-INF/resources/webjars/echarts/5.3.1/dist/echarts.min.js";

    private final SkewEngine engine;
    private final String machine;
    private final List<List<SkewRun>> runs;

    /**
     * @param runs by exponent, then by mode
     */
    SkewReport(SkewEngine engine, String machine, List<List<SkewRun>> runs) {
        this.engine = engine;
        this.machine = machine;
        this.runs = runs;
    }

    void write(Path file) throws IOException {
        String page =
                resource(PAGE)
                        .replace("/*{{charts}}*/", resource(CHARTS))
                        .replace("{{table}}", table())
                        .replace("/*{{data}}*/", forScript(data()));
        Files.writeString(file, page);
    }

    /** No text of the data may end the script that it stands in. */
    private static String forScript(JsonNode data) {
        return data.toString().replace("<", "\\u003c");
    }

    private static String resource(String name) throws IOException {
        try (InputStream stream = SkewReport.class.getResourceAsStream(name)) {
            if (stream == null) {
                throw new IOException("the jar must have the report's parts: missing=" + name);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Rates as rows of HTML, for readers without scripts. */
    private String table() {
        StringBuilder html = new StringBuilder("<tr><th>Zipf factor</th>");
        engine.modes().forEach(mode -> html.append("<th>").append(mode.name()).append("</th>"));
        html.append("</tr>\n");
        for (List<SkewRun> atZipf : runs) {
            html.append("<tr><td>").append(atZipf.get(0).facts().zipf()).append("</td>");
            for (SkewRun run : atZipf) {
                html.append(String.format(Locale.ROOT, "<td>%.1f</td>", run.rate()));
            }
            html.append("</tr>\n");
        }
        return html.toString();
    }

    private JsonNode data() {
        ObjectNode data = new ObjectMapper().createObjectNode();
        data.put("engine", engine.name()).put("machine", machine).put("workers", engine.workers());
        data.put("facts", runs.get(0).get(0).facts().rows());
        ArrayNode modes = data.putArray("modes");
        for (Mode mode : engine.modes()) {
            modes.addObject().put("name", mode.name()).put("meaning", mode.meaning());
        }
        ArrayNode exponents = data.putArray("exponents");
        runs.forEach(atZipf -> describe(exponents.addObject(), atZipf));
        return data;
    }

    private void describe(ObjectNode node, List<SkewRun> atZipf) {
        SkewedFacts facts = atZipf.get(0).facts();
        node.put("zipf", facts.zipf());
        ArrayNode partitions = node.putArray("partitions");
        for (long rows : facts.partitionRows()) {
            partitions.add(rows);
        }
        ArrayNode keys = node.putArray("keys");
        for (HeavyKey key : facts.heaviest()) {
            keys.addObject()
                    .put("key", key.key())
                    .put("partition", key.partition())
                    .put("rows", key.rows());
        }
        ArrayNode modes = node.putArray("runs");
        for (SkewRun run : atZipf) {
            ObjectNode mode = modes.addObject();
            mode.put("rate", run.rate()).put("elapsedNs", run.lap().elapsedNs());
            mode.put("busy", run.busyShare(engine.workers()));
            ArrayNode spans = mode.putArray("spans");
            for (Span span : run.lap().spans()) {
                spans.addArray()
                        .add(span.worker())
                        .add(span.partition())
                        .add(span.startNs())
                        .add(span.endNs());
            }
        }
        ArrayNode advice = node.putArray("advice");
        SkewAdvice.of(atZipf, engine.workers()).forEach(advice::add);
    }
}
