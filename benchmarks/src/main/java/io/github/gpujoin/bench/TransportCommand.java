// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.benchmarks.transport.FlinkShuffleStream;
import io.github.gpujoin.benchmarks.transport.Meter;
import io.github.gpujoin.benchmarks.transport.SessionStream;
import io.github.gpujoin.benchmarks.transport.Shipment;
import io.github.gpujoin.benchmarks.transport.Stream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Sends chunks by every transport and by Flink's own shuffle, and compares. */
@Command(
        name = "transport",
        description = {
            "Sends chunks by every transport and by Flink's own shuffle, in one run, and compares.",
            "flink: between two TaskManagers of an embedded cluster, over loopback.",
            "shm: sessions between two processes, every slot with its checksum, replayable.",
            "Latency is that of paced chunks, from when they were due to when they arrived."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class TransportCommand implements Callable<Integer> {

    private static final int MIN_CHUNK_BYTES = 64;
    private static final int MAX_CHUNK_BYTES = 1 << 24;
    private static final int MAX_CHANNELS = 64;

    /** What the others are compared with, where it is measured before them. */
    private static final String FLINK = "flink";

    private static final Map<String, Stream.Opener> TRANSPORTS = new LinkedHashMap<>();

    static {
        TRANSPORTS.put(FLINK, FlinkShuffleStream::new);
        TRANSPORTS.put("shm", SessionStream::new);
    }

    @Spec private CommandSpec spec;

    @Option(names = "--chunk-bytes", split = ",", description = "Sizes of chunks.")
    private List<Integer> chunkBytes = List.of(4 << 10, 32 << 10, 128 << 10, 1 << 20);

    @Option(names = "--channels", split = ",", description = "Numbers of channels.")
    private List<Integer> channels = List.of(1, 4, 16);

    @Option(names = "--paced-per-second", description = "Chunks a second, for latency.")
    private int pacedPerSecond = 2000;

    @Option(names = "--warm-up-ms", description = "Before each figure.")
    private long warmUpMs = 2000;

    @Option(names = "--measure-ms", description = "For each figure.")
    private long measureMs = 3000;

    @Option(names = "--only", split = ",", description = "Names of transports; all by default.")
    private List<String> only = new ArrayList<>(TRANSPORTS.keySet());

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    @Override
    public Integer call() throws Exception {
        check();
        Observations observations = new Observations(command(), spec.commandLine().getOut());
        Meter meter = new Meter(warmUpMs, measureMs);
        for (Shipment shipment : shipments()) {
            double flinkGbPerSecond = Double.NaN;
            for (String name : only) {
                spec.commandLine().getErr().println(name + " " + shipment);
                Meter.Figure figure = meter.measure(TRANSPORTS.get(name), shipment);
                if (name.equals(FLINK)) {
                    flinkGbPerSecond = figure.gigabytesPerSecond();
                }
                add(observations, name, shipment, figure, flinkGbPerSecond);
            }
        }
        if (json != null) {
            observations.write(json);
        }
        return 0;
    }

    private String command() {
        return "bin/bench "
                + String.join(" ", spec.commandLine().getParent().getParseResult().originalArgs());
    }

    private static void add(
            Observations observations,
            String name,
            Shipment shipment,
            Meter.Figure figure,
            double flinkGbPerSecond) {
        if (shipment.isPaced()) {
            observations.add(
                    "transport-latency",
                    "transport",
                    name,
                    "channels",
                    shipment.channels(),
                    "chunk_bytes",
                    shipment.chunkBytes(),
                    "chunks_per_second",
                    shipment.perSecond(),
                    "p50_us",
                    figure.latencyMicros(50),
                    "p99_us",
                    figure.latencyMicros(99));
        } else {
            double timesFlink = figure.gigabytesPerSecond() / flinkGbPerSecond;
            observations.add(
                    "transport",
                    "transport",
                    name,
                    "channels",
                    shipment.channels(),
                    "chunk_bytes",
                    shipment.chunkBytes(),
                    "gb_per_second",
                    figure.gigabytesPerSecond(),
                    "times_flink",
                    Double.isNaN(timesFlink) ? "-" : timesFlink,
                    "cpu_seconds_per_gb",
                    figure.cpuSecondsPerGigabyte());
        }
    }

    /** As many chunks as go, then, of the smallest, so many a second. */
    private List<Shipment> shipments() {
        List<Shipment> all = new ArrayList<>();
        for (int count : channels) {
            for (int size : chunkBytes) {
                all.add(new Shipment(count, size, 0));
            }
        }
        for (int count : channels) {
            all.add(new Shipment(count, chunkBytes.get(0), pacedPerSecond));
        }
        return all;
    }

    private void check() {
        for (int size : chunkBytes) {
            require(
                    size >= MIN_CHUNK_BYTES && size <= MAX_CHUNK_BYTES && size % 8 == 0,
                    "Chunk size is not a multiple of 8 within 64 bytes and 16 MiB: --chunk-bytes="
                            + size);
        }
        for (int count : channels) {
            require(
                    count >= 1 && count <= MAX_CHANNELS,
                    "Channels are not within 1 and 64: --channels=" + count);
        }
        require(
                pacedPerSecond >= 1 && warmUpMs >= 1 && measureMs >= 1,
                "A rate or time is not positive: --paced-per-second="
                        + pacedPerSecond
                        + ", --warm-up-ms="
                        + warmUpMs
                        + ", --measure-ms="
                        + measureMs);
        for (String name : only) {
            require(
                    TRANSPORTS.containsKey(name),
                    "--only takes names of transports: unknown="
                            + name
                            + ", transports="
                            + TRANSPORTS.keySet());
        }
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
