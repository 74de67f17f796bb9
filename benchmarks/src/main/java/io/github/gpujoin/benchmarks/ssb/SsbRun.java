// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.examples.query.Query;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.util.FileUtils;

/**
 * Lets contenders answer queries from the same files, one after the other, and compares answers.
 *
 * <p>All are measured alike. Before the first figure, every file is read once, so that all find it
 * in the page cache, and each contender answers the first query once. For each query, a contender
 * first answers it from tables of a few rows: the least of five times is its start-up. Then it
 * answers from the files in each round.
 */
public final class SsbRun implements AutoCloseable {

    private static final int STARTUP_RUNS = 5;

    /** About 600 facts; the calendar has 2556 days at any scale. */
    private static final double STARTUP_SCALE_FACTOR = 0.0001;

    private record Timed(List<Double> seconds, List<List<String>> answers) {}

    private final List<SsbContender> contenders;
    private final SsbContender reference;
    private final SsbFiles files;
    private final Path startupDirectory;
    private final SsbFiles startupFiles;
    private final long factRows;

    /**
     * Creates the files for start-up and warms everything up.
     *
     * @param contenders able to read the files; closed by their owner
     * @param warmUp the query of the warm-up
     * @param progress receives a line for each step
     */
    public SsbRun(SsbContenders contenders, SsbFiles files, Query warmUp, Consumer<String> progress)
            throws Exception {
        this.contenders = contenders.all();
        this.reference = contenders.reference();
        this.files = files;
        this.startupDirectory = Files.createTempDirectory("ssb-start-up");
        this.startupFiles = new SsbFiles(startupDirectory, files.format());
        try {
            startupFiles.make(STARTUP_SCALE_FACTOR, name -> {});
            this.factRows = contenders.factRows(files);
            readAll();
            for (SsbContender contender : this.contenders) {
                progress.accept("warming up " + contender.name());
                contender.answer(warmUp, files);
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private void readAll() throws IOException {
        for (var table : SsbTables.ALL) {
            Files.copy(files.file(table), OutputStream.nullOutputStream());
        }
    }

    /**
     * Measures one query.
     *
     * @param rounds at least 1
     * @return a figure for each contender, in their order
     */
    public List<SsbFigure> run(Query query, int rounds, Consumer<String> progress)
            throws Exception {
        Map<String, Timed> startups = new HashMap<>();
        Map<String, Timed> answers = new LinkedHashMap<>();
        for (SsbContender contender : contenders) {
            progress.accept(query.label() + " " + contender.name());
            startups.put(contender.name(), time(contender, query, startupFiles, STARTUP_RUNS));
            answers.put(contender.name(), time(contender, query, files, rounds));
        }
        List<String> expected =
                answers.containsKey(reference.name())
                        ? answers.get(reference.name()).answers().get(0)
                        : reference.answer(query, files);
        List<SsbFigure> figures = new ArrayList<>();
        answers.forEach(
                (name, timed) ->
                        figures.add(
                                new SsbFigure(
                                        name,
                                        query.name(),
                                        timed.seconds(),
                                        Summary.of(startups.get(name).seconds()).min(),
                                        factRows,
                                        timed.answers().stream().allMatch(expected::equals))));
        return figures;
    }

    private static Timed time(SsbContender contender, Query query, SsbFiles files, int rounds)
            throws Exception {
        Timed timed = new Timed(new ArrayList<>(), new ArrayList<>());
        for (int round = 0; round < rounds; round++) {
            System.gc(); // no contender collects the garbage of the one before
            long startNs = System.nanoTime();
            timed.answers().add(contender.answer(query, files));
            timed.seconds().add((System.nanoTime() - startNs) / 1e9);
        }
        return timed;
    }

    /** Deletes the files for start-up. */
    @Override
    public void close() throws IOException {
        FileUtils.deleteDirectory(startupDirectory.toFile());
    }
}
