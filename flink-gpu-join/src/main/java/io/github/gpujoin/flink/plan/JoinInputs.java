// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import static java.util.stream.Collectors.joining;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The inputs of a join, with a lookup of columns by name. */
record JoinInputs(JoinInput<?> facts, List<DimensionInput<?>> dimensions) {

    /** Stands for no dimension. */
    static final int NONE = JoinExplanation.NONE;

    /**
     * A column of a side.
     *
     * @param side index of a dimension, or {@link ChunkDescriptor#FACTS}
     */
    record SideColumn(int side, String column) {}

    /**
     * Returns the inputs of a star join.
     *
     * @throws IllegalArgumentException if there is no dimension, or two have the same name
     */
    static JoinInputs of(JoinUid uid, JoinInput<?> facts, List<DimensionInput<?>> dimensions) {
        if (dimensions.isEmpty()) {
            throw new IllegalArgumentException(
                    "No dimension: uid=%s. Add one with .dimension(...).".formatted(uid.text()));
        }
        Set<String> names = new HashSet<>();
        for (DimensionInput<?> dimension : dimensions) {
            if (!names.add(dimension.input().name())) {
                throw new IllegalArgumentException(
                        "Two dimensions are named '%s'. Rename one with .named(...)."
                                .formatted(dimension.input().name()));
            }
        }
        return new JoinInputs(facts, List.copyOf(dimensions));
    }

    JoinInput<?> input(int side) {
        return side == ChunkDescriptor.FACTS ? facts : dimensions.get(side).input();
    }

    /**
     * Returns the column of a name.
     *
     * @param name {@code "column"} if only one side has it, or {@code "side.column"}
     * @throws IllegalArgumentException if no side or several sides have the column
     */
    SideColumn find(String name) {
        List<SideColumn> found = new ArrayList<>();
        for (int side = ChunkDescriptor.FACTS; side < dimensions.size(); side++) {
            String prefix = input(side).name() + ".";
            if (input(side).columnNames().contains(name)) {
                found.add(new SideColumn(side, name));
            } else if (name.startsWith(prefix)
                    && input(side).columnNames().contains(name.substring(prefix.length()))) {
                found.add(new SideColumn(side, name.substring(prefix.length())));
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "Unknown column '%s': no side has it. The columns are %s."
                            .formatted(name, columnNames()));
        }
        if (found.size() > 1) {
            throw new IllegalArgumentException(
                    "Ambiguous column '%s': sides with it=%s. Write it as side.column."
                            .formatted(
                                    name,
                                    found.stream().map(c -> input(c.side()).name()).toList()));
        }
        return found.get(0);
    }

    /** Returns the index of the versioned dimension, or {@link #NONE}. */
    int versionedDimension() {
        for (int d = 0; d < dimensions.size(); d++) {
            if (dimensions.get(d).isVersioned()) {
                return d;
            }
        }
        return NONE;
    }

    /**
     * Returns the exception for a side output of a versioned dimension.
     *
     * @param rows in the side output
     */
    IllegalStateException noVersions(String rows) {
        return new IllegalStateException(
                "No versioned dimension, so no %s: dimensions=%s. Add .versioned()."
                        .formatted(
                                rows,
                                dimensions.stream().map(side -> side.input().name()).toList()));
    }

    /** The columns of each side, {@code side=[columns]}. */
    private String columnNames() {
        return Stream.concat(Stream.of(facts), dimensions.stream().map(DimensionInput::input))
                .map(side -> side.name() + "=" + side.columnNames())
                .collect(joining(", "));
    }
}
