// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.io.Serializable;

/**
 * How fields and lines of a text file are separated.
 *
 * @param delimiter between fields
 * @param isCsv whether fields may be in quotes and empty lines are skipped; otherwise a line may
 *     have a delimiter after its last field
 * @param hasHeader whether the first line names the columns
 * @param lineBreaks whether a field in quotes may contain line breaks
 */
record TextSyntax(char delimiter, boolean isCsv, boolean hasHeader, boolean lineBreaks)
        implements Serializable {

    static final TextSyntax TBL = new TextSyntax('|', false, false, false);
    static final TextSyntax CSV = new TextSyntax(',', true, true, false);

    static final byte QUOTE = '"';

    TextSyntax {
        if (delimiter >= 0x80 || delimiter == QUOTE || delimiter == '\n' || delimiter == '\r') {
            throw new IllegalArgumentException(
                    "Delimiter is not ASCII, or a quote or line break: delimiter=U+%04X"
                            .formatted((int) delimiter));
        }
        if (lineBreaks && !isCsv) {
            throw new IllegalArgumentException("Only CSV has line breaks inside quotes.");
        }
    }
}
