// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.query.Query;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a run reads and answers.
 *
 * @param files may not exist yet
 * @param scaleFactor of generated files
 * @param queries at least one
 */
public record SsbData(SsbFiles files, double scaleFactor, List<Query> queries) {

    public SsbData {
        queries = List.copyOf(queries);
    }

    /**
     * Creates the missing files.
     *
     * @param progress receives a line for each new file
     */
    public void make(Consumer<String> progress) throws IOException {
        files.make(scaleFactor, progress);
    }
}
