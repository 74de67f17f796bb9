// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A selected column of an input.
 *
 * @param column name in the input
 * @param name name in the result
 */
record Selection(String column, String name) {

    private static final Pattern ALIAS = Pattern.compile("\\s*(\\S.*?)\\s+(?i:AS)\\s+(\\S.*?)\\s*");

    /** Parses {@code "column"} or {@code "column AS name"}. */
    static Selection parse(String text) {
        Matcher alias = ALIAS.matcher(text);
        if (alias.matches()) {
            if (ALIAS.matcher(alias.group(2)).matches()) {
                throw new IllegalArgumentException(
                        "Selection has two names: '%s'. Write \"column AS name\".".formatted(text));
            }
            return new Selection(alias.group(1), alias.group(2));
        }
        if (text.isBlank()) {
            throw new IllegalArgumentException(
                    "Blank column in a selection: '%s'. Write \"column\" or \"column AS name\"."
                            .formatted(text));
        }
        return new Selection(text, text);
    }
}
