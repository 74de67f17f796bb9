// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import java.util.Comparator;

/**
 * A result in a form that is comparable across engines.
 *
 * @param probeRow row number in the probe chunk
 * @param payload for each dimension, the raw bits of its fixed-width payload columns and its
 *     variable-width values in hexadecimal, as {@link ResultRows} writes them
 */
public record ResultRow(int probeRow, String payload) implements Comparable<ResultRow> {

    private static final Comparator<ResultRow> ORDER =
            Comparator.comparingInt(ResultRow::probeRow).thenComparing(ResultRow::payload);

    @Override
    public int compareTo(ResultRow other) {
        return ORDER.compare(this, other);
    }
}
