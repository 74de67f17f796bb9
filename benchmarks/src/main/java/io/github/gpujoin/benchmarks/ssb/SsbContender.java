// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.query.Query;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Answers queries from files. Not thread-safe. */
interface SsbContender {

    /** Returns the name in reports. */
    String name();

    /** Returns the reason why this contender cannot read the files, or null if it can. */
    default @Nullable String obstacle(SsbFiles files) {
        return null;
    }

    /**
     * Answers a query, from its text or plan to the last row of the result.
     *
     * @return the rows of the answer as {@link #sorted} returns them
     */
    List<String> answer(Query query, SsbFiles files) throws Exception;

    /** Returns each row as its values in the order of the select list, and the rows sorted. */
    static List<String> sorted(Stream<? extends List<?>> rows) {
        return rows.map(row -> row.stream().map(String::valueOf).collect(Collectors.joining("|")))
                .sorted()
                .toList();
    }
}
