// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import org.jspecify.annotations.Nullable;

/**
 * A figure that goes into the model.
 *
 * @param source command, page or section
 * @param figure where a committed result file holds the figure; null if none does
 */
record Input(
        String name,
        double value,
        Unit unit,
        Origin origin,
        String source,
        @Nullable ResultFigure figure) {

    /** How a figure became known. */
    enum Origin {
        MEASURED("measured"),
        READ("read"),
        SPECIFICATION("specification"),
        SCALED("scaled");

        private final String label;

        Origin(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    /** Units of the page, each with its size in base units. */
    enum Unit {
        GB_PER_S("GB/s", 1e9),
        G_PER_S("G/s", 1e9),
        G_ROWS_PER_S("G rows/s", 1e9),
        MS("ms", 1e-3),
        BYTES("bytes", 1),
        SHARE("", 1),
        M_ROWS("M rows", 1e6);

        private final String label;
        private final double size;

        Unit(String label, double size) {
            this.label = label;
            this.size = size;
        }

        String label() {
            return label;
        }

        double size() {
            return size;
        }
    }

    /**
     * The median of a figure of a file in benchmarks/results: JSON, or lines with RESULT.
     *
     * @param parameters select it: name, value, name, value, ...
     */
    record ResultFigure(String file, String name, String... parameters) {

        /** Text files are of the tools that need no JVM. */
        String command() {
            return file.endsWith(".json") ? "`bin/bench gpu`" : "`group_ceilings`";
        }
    }

    static Input measured(String name, double value, Unit unit, String source) {
        return new Input(name, value, unit, Origin.MEASURED, source, null);
    }

    static Input measured(String name, double value, Unit unit, ResultFigure figure) {
        String source =
                "%s, [%s](../benchmarks/results/%s)"
                        .formatted(figure.command(), figure.name(), figure.file());
        return new Input(name, value, unit, Origin.MEASURED, source, figure);
    }

    static Input read(String name, double value, Unit unit, String source) {
        return new Input(name, value, unit, Origin.READ, source, null);
    }

    static Input specified(String name, double value, Unit unit, String source) {
        return new Input(name, value, unit, Origin.SPECIFICATION, source, null);
    }

    /** A specified rate times the share of such rates that was measured elsewhere. */
    static Input scaled(String name, double baseValue, Unit unit, String source) {
        return new Input(name, baseValue / unit.size(), unit, Origin.SCALED, source, null);
    }

    /** Returns the figure in base units: bytes, rows, seconds. */
    double base() {
        return value * unit.size();
    }
}
