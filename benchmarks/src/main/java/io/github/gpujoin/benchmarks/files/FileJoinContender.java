// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.files;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Joins the two files to a third, which is checked and deleted after the time. */
abstract class FileJoinContender implements Contender {

    private final JoinFiles files;
    private JoinAnswer expected = JoinAnswer.NOTHING;

    FileJoinContender(JoinFiles files) {
        this.files = files;
    }

    @Override
    public void prepare() throws Exception {
        files.make();
        expected = files.expected();
    }

    @Override
    public Measurement run() throws Exception {
        Path result = files.result(name());
        try {
            long startNs = System.nanoTime();
            join(files, result);
            long elapsedNs = System.nanoTime() - startNs;
            Map<String, Long> details = Map.of("result_bytes", Files.size(result));
            return new Measurement(
                    files.probeRows(), elapsedNs, files.answerIn(result), expected, details);
        } finally {
            // Also drops pages that are not yet on the disk, which would slow the next contender.
            Files.deleteIfExists(result);
        }
    }

    /** Writes the join to a file. */
    abstract void join(JoinFiles files, Path result) throws Exception;
}
