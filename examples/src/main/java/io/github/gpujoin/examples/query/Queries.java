// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.examples.data.Benchmark;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The queries by name. */
public final class Queries {

    /** Stands for all queries of the star schema benchmark. */
    public static final String ALL_OF_SSB = "all";

    private static final List<Query> ALL =
            Stream.concat(SsbQueries.ALL.stream(), TpchQueries.ALL.stream()).toList();

    private Queries() {}

    public static List<Query> of(Benchmark benchmark) {
        return ALL.stream().filter(query -> query.benchmark() == benchmark).toList();
    }

    /**
     * The queries that a name on the command line stands for.
     *
     * @throws IllegalArgumentException where there is none
     */
    public static List<Query> named(String name) {
        if (name.equals(ALL_OF_SSB)) {
            return of(Benchmark.SSB);
        }
        List<Query> found = ALL.stream().filter(query -> query.name().equals(name)).toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "Unknown query: query=%s. Use %s or one of %s."
                            .formatted(
                                    name,
                                    ALL_OF_SSB,
                                    ALL.stream()
                                            .map(Query::name)
                                            .collect(Collectors.joining(", "))));
        }
        return found;
    }
}
