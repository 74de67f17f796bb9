package io.github.gpujoin.core.engine;

import java.util.Comparator;

/**
 * One result in a form that compares, whatever engine it came from.
 *
 * @param probeRow row in its probe chunk
 * @param payload per dimension the raw bits of its fixed payload columns and its carried bytes in
 *     hexadecimal, as {@link ResultRows} writes them
 */
public record ResultRow(int probeRow, String payload) implements Comparable<ResultRow> {

    private static final Comparator<ResultRow> ORDER =
            Comparator.comparingInt(ResultRow::probeRow).thenComparing(ResultRow::payload);

    @Override
    public int compareTo(ResultRow other) {
        return ORDER.compare(this, other);
    }
}
