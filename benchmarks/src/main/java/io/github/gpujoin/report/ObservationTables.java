// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Observations as tables: one for each run of observations of the same name. */
final class ObservationTables {

    private ObservationTables() {}

    /**
     * @param observations each with a name and an object of values, as their command wrote them
     */
    static void append(StringBuilder page, JsonNode observations) {
        List<String> columns = List.of();
        String name = "";
        for (JsonNode observation : observations) {
            JsonNode values = observation.at("/values");
            if (!observation.at("/name").asText().equals(name)) {
                page.append(name.isEmpty() ? "" : "\n");
                name = observation.at("/name").asText();
                columns = new ArrayList<>();
                values.fieldNames().forEachRemaining(columns::add);
                page.append("| ").append(name).append(": ");
                page.append(String.join(" | ", columns).replace('_', ' ')).append(" |\n|");
                page.append(String.join("", Collections.nCopies(columns.size(), "---:|")));
                page.append('\n');
            }
            for (String column : columns) {
                page.append("| ").append(text(values.at("/" + column))).append(' ');
            }
            page.append("|\n");
        }
    }

    /** Large numbers in groups of three digits. */
    private static String text(JsonNode value) {
        if (!value.isNumber()) {
            return value.asText();
        }
        double number = value.asDouble();
        return number == Math.rint(number)
                ? String.format(Locale.ROOT, "%,d", (long) number)
                : String.valueOf(number);
    }
}
