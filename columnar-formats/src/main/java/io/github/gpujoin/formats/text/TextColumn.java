// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.core.layout.Column;
import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A column of a text file.
 *
 * @param name in the header, if the file has one, and in chunks
 * @param type of its values
 * @param scale most digits after the point of a {@link TextType#DECIMAL}, 0 to 17; 0 for others
 * @param nullable whether an empty field without quotes is null; otherwise it is empty text, and
 *     malformed in a column of another type than text
 */
@PublicEvolving
public record TextColumn(String name, TextType type, int scale, boolean nullable)
        implements Serializable {

    private static final int MAX_SCALE = 17;

    /** Checks the scale. */
    public TextColumn {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(type, "type");
        if (scale < 0 || scale > MAX_SCALE || scale > 0 && type != TextType.DECIMAL) {
            throw new IllegalArgumentException(
                    "Scale is out of range (0 to 17, DECIMAL only): column="
                            + name
                            + ", type="
                            + type
                            + ", scale="
                            + scale);
        }
    }

    /** Returns a column in which no field is null. */
    public static TextColumn of(String name, TextType type) {
        return new TextColumn(name, type, 0, false);
    }

    /** Returns a column of decimals in which no field is null. */
    public static TextColumn decimal(String name, int scale) {
        return new TextColumn(name, TextType.DECIMAL, scale, false);
    }

    /** Returns this column with empty fields as nulls. */
    public TextColumn asNullable() {
        return new TextColumn(name, type, scale, true);
    }

    Column chunkColumn() {
        return new Column(name, type.columnType(), nullable);
    }

    /** Returns what a malformed field should have been, for messages. */
    String expectation() {
        return type == TextType.DECIMAL
                ? "a decimal with at most " + scale + " digits after the point"
                : type.expectation();
    }
}
