// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.flink.FlinkContender;
import io.github.gpujoin.benchmarks.flink.PeerJobs;
import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.flink.api.options.GpuJoinOptions.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The star join as a Flink job from a columnar source, on all cores of this machine: with the GPU
 * and with the CPU engine, beside Flink's keyed join of two streams; and with the GPU and narrow
 * keys, plain and encoded.
 */
final class FlinkBench implements GpuBench {

    private static final String GPU = "flink-star-join-gpu";
    private static final String CPU = "flink-star-join-cpu";

    /** A chunk for each subtask of each round, counted generously. */
    private static final int PRIMES = 1024;

    private static final int LOG2_BUILD_ROWS = 20;
    private static final int LOG2_PROBE_ROWS = 28;

    /** Of all facts, so that a run takes a second or more, and its start and end weigh little. */
    private static final int REPETITIONS = 8;

    /** Each subtask opens an engine on every device before it joins. */
    private static final int GROUP_REPETITIONS = 96;

    private static final int TUPLE_BYTES = 16;
    private static final int LONG_PAYLOAD_BITS = 31;

    /** Of the payload that facts are grouped by. */
    private static final int GROUP_BITS = 8;

    /** Of columns that encode. */
    private static final int PAYLOAD_BITS = 20;

    private static final long SEED = 6;

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        int threads = Runtime.getRuntime().availableProcessors();
        List<Figure> figures = new ArrayList<>();
        Tuples sparse = tuples(run, KeyDomain.SPARSE, LONG_PAYLOAD_BITS, REPETITIONS);
        figures.addAll(
                measure(
                        run,
                        Map.of("facts", "heap"),
                        List.of(
                                columnar(GPU, sparse, threads, Engine.GPU),
                                columnar(CPU, sparse, threads, Engine.CPU),
                                PeerJobs.keyedDataStream(sparse, threads))));
        try (Tuples inSlots = sparse.inSlots(PRIMES)) {
            sparse = null; // 4 GiB
            figures.addAll(
                    measure(
                            run,
                            Map.of("facts", "slots"),
                            List.of(
                                    columnar(GPU, inSlots, threads, Engine.GPU),
                                    columnar(CPU, inSlots, threads, Engine.CPU))));
        }
        figures.addAll(encodable(run, threads));
        return figures;
    }

    /** Facts in slots, joined by one device and by all, with each kind of results. */
    static List<Figure> groups(GpuRun run, String name, int devices) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (StarJoinJobs.Results results : StarJoinJobs.Results.values()) {
            boolean isGrouped = results == StarJoinJobs.Results.GROUPS;
            int payloadBits = isGrouped ? GROUP_BITS : LONG_PAYLOAD_BITS;
            try (Tuples inSlots =
                    tuples(run, KeyDomain.SPARSE, payloadBits, GROUP_REPETITIONS).inSlots(PRIMES)) {
                figures.addAll(groups(run, name, devices, inSlots, results));
            }
        }
        return figures;
    }

    private static List<Figure> groups(
            GpuRun run, String name, int devices, Tuples tuples, StarJoinJobs.Results results)
            throws Exception {
        int threads = Runtime.getRuntime().availableProcessors();
        List<Figure> both =
                measure(
                        run,
                        Figure.parameters("facts", "slots", "results", lowerCase(results)),
                        List.of(
                                StarJoinJobs.onDevices(name + "-1", tuples, threads, "0", results),
                                StarJoinJobs.onDevices(
                                        name + "-" + devices, tuples, threads, "all", results)));
        return List.of(
                both.get(0).renamed(name, "devices", 1),
                both.get(1).renamed(name, "devices", devices));
    }

    private static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Columns that encode: plain, encoded by the source, and encoded by the job. */
    private static List<Figure> encodable(GpuRun run, int threads) throws Exception {
        Map<String, Object> parameters =
                Figure.parameters("key_bits", 27, "payload_bits", PAYLOAD_BITS);
        List<Figure> figures = new ArrayList<>();
        Tuples narrow = tuples(run, KeyDomain.BITS_27, PAYLOAD_BITS, REPETITIONS);
        parameters.put("facts", "heap");
        figures.addAll(
                measure(
                        run,
                        parameters,
                        List.of(
                                StarJoinJobs.columnar(
                                                GPU + "-encoding",
                                                narrow,
                                                threads,
                                                Engine.GPU,
                                                true)
                                        .checkingEvery(StarJoinJobs.CHECK_INTERVAL))));
        parameters.put("facts", "slots");
        try (Tuples plain = narrow.inSlots(PRIMES)) {
            figures.addAll(
                    measure(
                            run,
                            parameters,
                            List.of(columnar(GPU + "-narrow", plain, threads, Engine.GPU))));
        }
        try (Tuples encoded = narrow.encodedInSlots(PRIMES)) {
            narrow = null; // 4 GiB
            figures.addAll(
                    measure(
                            run,
                            parameters,
                            List.of(
                                    StarJoinJobs.encodedResults(GPU + "-encoded", encoded, threads)
                                            .checkingEvery(StarJoinJobs.CHECK_INTERVAL),
                                    columnar(GPU + "-decoded", encoded, threads, Engine.GPU),
                                    columnar(CPU + "-encoded", encoded, threads, Engine.CPU))));
        }
        return figures;
    }

    private static FlinkContender columnar(String name, Tuples tuples, int threads, Engine engine) {
        return StarJoinJobs.columnar(name, tuples, threads, engine)
                .checkingEvery(StarJoinJobs.CHECK_INTERVAL);
    }

    private static Tuples tuples(GpuRun run, KeyDomain keys, int payloadBits, int repetitions) {
        return Tuples.generate(
                        run.rows(LOG2_BUILD_ROWS),
                        run.rows(LOG2_PROBE_ROWS),
                        keys,
                        payloadBits,
                        SEED)
                .repeated(repetitions);
    }

    private static List<Figure> measure(
            GpuRun run, Map<String, Object> furtherParameters, List<Contender> contenders)
            throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (ContenderResult result : new Rounds(contenders, run.progress()).run(ROUNDS)) {
            Map<String, Object> parameters =
                    Figure.parameters(
                            "build_rows", run.rows(LOG2_BUILD_ROWS),
                            "probe_rows", result.probeRows(),
                            "threads", Runtime.getRuntime().availableProcessors());
            parameters.putAll(furtherParameters);
            List<Double> rates =
                    result.rounds().stream()
                            .map(Measurement::tuplesPerSecond)
                            .map(rate -> rate / 1e9)
                            .toList();
            Measurement shown = result.shown();
            figures.add(
                    Figure.of(result.name(), parameters, "Gtuples/s", rates)
                            .boundedBy(Ceilings.READ, run.ceilings().readGbPerS() / TUPLE_BYTES)
                            .checked(
                                    result.isCorrect(),
                                    shown.answer().count(),
                                    shown.answer().checksum()));
        }
        return figures;
    }
}
