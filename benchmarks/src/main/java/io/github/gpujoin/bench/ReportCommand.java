// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.report.PerformancePage;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Makes docs/performance.md of the committed results. */
@Command(
        name = "report",
        description = "Makes docs/performance.md and its pictures of the committed results.",
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class ReportCommand implements Callable<Integer> {

    @Option(names = "--results", description = "Folder of JSON files.")
    private Path results = Path.of("benchmarks", "results");

    @Option(names = "--docs", description = "Folder of the page.")
    private Path docs = Path.of("docs");

    @Override
    public Integer call() throws Exception {
        PerformancePage.of(results).write(docs);
        return 0;
    }
}
