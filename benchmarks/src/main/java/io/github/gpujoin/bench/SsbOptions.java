// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.ssb.SsbData;
import io.github.gpujoin.benchmarks.ssb.SsbFiles;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.query.Queries;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.tbl.TblTable;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Command-line options for the files and queries of the star schema benchmark. */
final class SsbOptions {

    private static final BigDecimal DEFAULT_SCALE_FACTOR = BigDecimal.ONE;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--scale-factor",
            paramLabel = "SF",
            description = "Scale factor of generated SSB tables; 1 by default.")
    private @Nullable BigDecimal scaleFactor;

    @Option(names = "--format", description = "Format of the SSB files: tbl, parquet, avro or csv.")
    private String format = "parquet";

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "Directory of the SSB files; data/ssb-sfSF by default. Missing files are"
                            + " generated, in DIR only with --scale-factor.")
    private @Nullable Path directory;

    @Option(
            names = "--query",
            split = ",",
            description = "SSB queries, 1.1 to 4.3; all by default.")
    private List<String> queries = new ArrayList<>();

    /**
     * Returns the data of a run, whose files may not exist yet.
     *
     * @throws ParameterException if an option is wrong
     */
    SsbData data() {
        return new SsbData(files(), size().doubleValue(), queries());
    }

    private List<Query> queries() {
        List<Query> all = Queries.of(Benchmark.SSB);
        List<String> known = all.stream().map(Query::name).toList();
        for (String name : queries) {
            require(
                    known.contains(name),
                    "Unknown --query: %s. Use some of %s.".formatted(name, known));
        }
        return all.stream()
                .filter(query -> queries.isEmpty() || queries.contains(query.name()))
                .toList();
    }

    private SsbFiles files() {
        List<String> known = SsbFiles.formatNames();
        require(
                known.contains(format),
                "Unknown --format: %s. Use one of %s.".formatted(format, known));
        require(
                size().signum() > 0,
                "Invalid --scale-factor: %s. Use a number above 0.".formatted(size()));
        String name = "ssb-sf" + size().stripTrailingZeros().toPlainString();
        SsbFiles files = SsbFiles.of(directory == null ? Path.of("data", name) : directory, format);
        List<TblTable> missing = files.missing();
        require(
                missing.isEmpty() || directory == null || scaleFactor != null,
                "Table files missing: directory=%s, tables=%s. Add the files, or set --scale-factor."
                        .formatted(directory, missing.stream().map(TblTable::name).toList()));
        return files;
    }

    private BigDecimal size() {
        return scaleFactor == null ? DEFAULT_SCALE_FACTOR : scaleFactor;
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
