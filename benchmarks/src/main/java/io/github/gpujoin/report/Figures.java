// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import io.github.gpujoin.benchmarks.gpu.Figure;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The figures of one run, to be asked for by name and parameters: name, value, name, value, ... */
record Figures(List<Figure> list) {

    Stream<Figure> all(String name, Object... values) {
        return list.stream().filter(figure -> figure.is(name, values));
    }

    Optional<Figure> first(String name, Object... values) {
        return all(name, values).findFirst();
    }

    /** Median of the first such figure; NaN where there is none. */
    double median(String name, Object... values) {
        return first(name, values).map(figure -> figure.summary().median()).orElse(Double.NaN);
    }
}
