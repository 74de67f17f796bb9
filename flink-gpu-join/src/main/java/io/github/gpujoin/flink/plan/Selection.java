// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A column in the result.
 *
 * @param column name in its input
 * @param name name in the result
 */
record Selection(String column, String name) {

    private static final Pattern ALIAS = Pattern.compile("\\s*(\\S.*?)\\s+(?i:AS)\\s+(\\S.*?)\\s*");

    /** Reads {@code "column"} or {@code "column AS name"}. */
    static Selection parse(String text) {
        Matcher alias = ALIAS.matcher(text);
        if (alias.matches()) {
            return new Selection(alias.group(1), alias.group(2));
        }
        if (text.isBlank()) {
            throw new IllegalArgumentException(
                    "a selection is a column or \"column AS name\": selection=\"" + text + "\"");
        }
        return new Selection(text, text);
    }
}
