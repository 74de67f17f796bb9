// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.records.RecordJobs;
import io.github.gpujoin.benchmarks.records.RecordJobs.Cost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins records as users have them, and reports the processor time of each fact. */
@Command(
        name = "records",
        description = {
            "Joins POJOs of two integers, POJOs with a key of two texts, POJOs of 20 columns of which"
                    + " three are read, and tables with a key of two texts; and POJOs of which a tenth"
                    + " has a match, with and without filters of facts, of two integers, with a key of"
                    + " two texts, and of 20 columns that are all in the results.",
            "cpu_ns is the processor time of the process for each fact, with Flink and the garbage"
                    + " collector, without the compiler; own_cpu_ns is without that of a job of the"
                    + " same source, which Flink passes on without copies. gain is the ratio of"
                    + " own_cpu_ns to Flink's. The job \"map\" makes"
                    + " results without a join: its own_cpu_ns is what results cost every contender."
                    + " Figures are medians of the rounds, in which contenders run one after another."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class RecordsCommand implements Callable<Integer> {

    /** A job of a case. */
    private interface Contender {
        Cost run(RecordJobs jobs) throws Exception;
    }

    /** What is compared, and the contender that gains refer to. */
    enum Case {
        INTEGER_KEY(FLINK_KEYED),
        TEXT_KEY(FLINK_KEYED),
        WIDE_ROWS(FLINK_KEYED),
        SQL_TEXT_KEY("flink-sql"),
        FEW_MATCHES_INTEGER_KEY(UNFILTERED, 10),
        FEW_MATCHES_TEXT_KEY(UNFILTERED, 10),
        FEW_MATCHES_WHOLE_ROWS(UNFILTERED, 10);

        private final String peer;
        private final int factsPerMatch;

        Case(String peer) {
            this(peer, 1);
        }

        Case(String peer, int factsPerMatch) {
            this.peer = peer;
            this.factsPerMatch = factsPerMatch;
        }

        private String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private static final String FLINK_KEYED = "flink-keyed";
    private static final String SOURCE = "source";

    /** The replicated join without filters of facts. */
    private static final String UNFILTERED = "ours-unfiltered";

    /** Makes results without a join. */
    private static final String MAPPED = "map";

    @Spec private CommandSpec spec;

    @Option(names = "--cases", split = ",", description = "Of ${COMPLETION-CANDIDATES}.")
    private List<Case> cases = Arrays.asList(Case.values());

    @Option(names = "--only", split = ",", description = "Names of contenders; all by default.")
    private List<String> only = new ArrayList<>();

    @Option(names = "--customers", description = "Rows of the dimension.")
    private int customers = 1_000_000;

    @Option(names = "--facts", description = "Facts of a job.")
    private long facts = 8_000_000;

    @Option(names = "--sql-facts", description = "Facts of a job of tables.")
    private long sqlFacts = 3_000_000;

    @Option(names = "--threads", description = "Slots of the embedded cluster.")
    private int threads = 2;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    @Option(names = "--object-reuse", description = "Turns on Flink's object reuse.")
    private boolean reusesObjects;

    @Override
    public Integer call() throws Exception {
        if (customers < 1 || facts < 1 || sqlFacts < 1 || threads < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Numbers must be positive: customers=%d, facts=%d, sql-facts=%d, threads=%d."
                            .formatted(customers, facts, sqlFacts, threads));
        }
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        boolean agree = true;
        for (Case each : cases) {
            agree &= measure(each, observations);
        }
        if (measurement.json() != null) {
            observations.write(measurement.json());
        }
        return agree ? 0 : 1;
    }

    private static Map<String, Contender> contenders(Case of) {
        Map<String, Contender> contenders = new LinkedHashMap<>();
        switch (of) {
            case INTEGER_KEY, FEW_MATCHES_INTEGER_KEY -> {
                contenders.put(SOURCE, RecordJobs::integerSource);
                contenders.put("ours-replicated", RecordJobs::integerReplicated);
                contenders.put(UNFILTERED, jobs -> jobs.unfiltered().integerReplicated());
                contenders.put("ours-partitioned", RecordJobs::integerPartitioned);
                contenders.put(FLINK_KEYED, RecordJobs::integerKeyed);
            }
            case TEXT_KEY, FEW_MATCHES_TEXT_KEY -> {
                contenders.put(SOURCE, RecordJobs::textSource);
                if (of == Case.TEXT_KEY) {
                    contenders.put(MAPPED, RecordJobs::textMapped);
                }
                contenders.put("ours-replicated", RecordJobs::textReplicated);
                contenders.put(UNFILTERED, jobs -> jobs.unfiltered().textReplicated());
                contenders.put("ours-partitioned", RecordJobs::textPartitioned);
                contenders.put(FLINK_KEYED, RecordJobs::textKeyed);
            }
            case WIDE_ROWS -> {
                contenders.put(SOURCE, RecordJobs::wideSource);
                contenders.put("ours-replicated", RecordJobs::wideReplicated);
                contenders.put("ours-partitioned", RecordJobs::widePartitioned);
                contenders.put(FLINK_KEYED, RecordJobs::wideKeyed);
            }
            case FEW_MATCHES_WHOLE_ROWS -> {
                contenders.put(SOURCE, RecordJobs::wideSource);
                contenders.put("ours-replicated", RecordJobs::wholeReplicated);
                contenders.put(UNFILTERED, jobs -> jobs.unfiltered().wholeReplicated());
            }
            case SQL_TEXT_KEY -> {
                contenders.put("ours-builder", RecordJobs::sqlBuilder);
                contenders.put(of.peer, RecordJobs::sqlRegular);
            }
        }
        return contenders;
    }

    private boolean measure(Case each, Observations observations) throws Exception {
        long count = each == Case.SQL_TEXT_KEY ? sqlFacts : facts;
        int buyers = Math.multiplyExact(customers, each.factsPerMatch);
        RecordJobs jobs = new RecordJobs(customers, buyers, count, threads, reusesObjects);
        Map<String, List<Cost>> costs = runs(contenders(each), jobs);
        boolean agree = agree(costs, jobs.matches());
        double source = median(costs.getOrDefault(SOURCE, List.of()));
        double peer = median(costs.getOrDefault(each.peer, List.of())) - source;
        costs.forEach(
                (name, all) -> {
                    double own = median(all) - source;
                    List<Object> values = new ArrayList<>();
                    values.addAll(List.of("case", each.label(), "contender", name));
                    values.addAll(List.of("cpu_ns", median(all)));
                    if (name.equals(MAPPED)) {
                        values.addAll(List.of("own_cpu_ns", own));
                    } else if (!name.equals(SOURCE)) {
                        values.addAll(List.of("own_cpu_ns", own));
                        values.addAll(List.of("gain", peer / own));
                        values.addAll(List.of("answer", agree ? "right" : "wrong"));
                    }
                    observations.add("records", values.toArray());
                });
        return agree;
    }

    private Map<String, List<Cost>> runs(Map<String, Contender> contenders, RecordJobs jobs)
            throws Exception {
        contenders.keySet().removeIf(name -> !only.isEmpty() && !only.contains(name));
        Map<String, List<Cost>> costs = new LinkedHashMap<>();
        for (int round = 0; round <= measurement.rounds(); round++) {
            for (Map.Entry<String, Contender> contender : contenders.entrySet()) {
                Cost cost = contender.getValue().run(jobs);
                if (round > 0) {
                    costs.computeIfAbsent(contender.getKey(), name -> new ArrayList<>()).add(cost);
                }
            }
        }
        return costs;
    }

    /** Whether all joins have one result for each fact with a match, and the same ones. */
    private static boolean agree(Map<String, List<Cost>> costs, long matches) {
        List<Cost> joined =
                costs.entrySet().stream()
                        .filter(entry -> !List.of(SOURCE, MAPPED).contains(entry.getKey()))
                        .flatMap(entry -> entry.getValue().stream())
                        .toList();
        return joined.stream().allMatch(cost -> cost.results() == matches)
                && joined.stream().mapToLong(Cost::checksum).distinct().count() <= 1;
    }

    private static double median(List<Cost> costs) {
        double[] sorted = costs.stream().mapToDouble(Cost::cpuNsPerFact).sorted().toArray();
        return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }
}
