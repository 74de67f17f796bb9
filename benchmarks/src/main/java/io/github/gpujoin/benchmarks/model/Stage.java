// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.Arrays;
import java.util.List;

/** A step of a join and its time; a step may consist of steps. */
record Stage(String name, double seconds, List<Stage> parts) {

    static Stage of(String name, double seconds) {
        return new Stage(name, seconds, List.of());
    }

    /** Returns steps that follow one another. */
    static Stage sequence(String name, Stage... parts) {
        return new Stage(
                name, Arrays.stream(parts).mapToDouble(Stage::seconds).sum(), List.of(parts));
    }

    /** Returns pipelined steps: the slowest bounds all. */
    static Stage overlap(String name, Stage... parts) {
        return new Stage(
                name,
                Arrays.stream(parts).mapToDouble(Stage::seconds).max().orElse(0),
                List.of(parts));
    }

    /** Returns the sum of all steps of that name, at any depth. */
    double secondsOf(String part) {
        return name.equals(part)
                ? seconds
                : parts.stream().mapToDouble(step -> step.secondsOf(part)).sum();
    }
}
