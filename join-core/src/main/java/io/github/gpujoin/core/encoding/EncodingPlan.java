// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import java.util.List;

/**
 * A way to encode a column: its values, or the values of its runs.
 *
 * @param values encoding of the values
 * @param isRunLength whether equal neighbours within a tile are stored once, with their count
 */
public record EncodingPlan(ValueEncoding values, boolean isRunLength) {

    /** Stores the column as it is. */
    public static final EncodingPlan PLAIN = new EncodingPlan(ValueEncoding.PLAIN, false);

    /** All plans; those that decode faster come first. */
    public static final List<EncodingPlan> ALL =
            List.of(
                    PLAIN,
                    new EncodingPlan(ValueEncoding.BIT_PACKED, false),
                    new EncodingPlan(ValueEncoding.DICTIONARY, false),
                    new EncodingPlan(ValueEncoding.DELTA, false),
                    new EncodingPlan(ValueEncoding.PLAIN, true),
                    new EncodingPlan(ValueEncoding.BIT_PACKED, true),
                    new EncodingPlan(ValueEncoding.DICTIONARY, true),
                    new EncodingPlan(ValueEncoding.DELTA, true));

    @Override
    public String toString() {
        return isRunLength ? "RUN_LENGTH(" + values + ")" : values.toString();
    }
}
