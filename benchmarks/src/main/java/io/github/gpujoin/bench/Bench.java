// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.examples.run.Cli;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Command line of the measurements. */
@Command(
        name = "bin/bench",
        description = "Measures the join against its peers.",
        footer = {"", "bin/bench COMMAND --help lists the options of a command."},
        mixinStandardHelpOptions = true,
        subcommands = {
            JoinCommand.class,
            BulkCommand.class,
            SymmetricCommand.class,
            FilesCommand.class,
            GpuCommand.class,
            JmhCommand.class,
            SoakCommand.class,
            MemoryCommand.class,
            HeavyKeyCommand.class,
            CheckpointCommand.class,
            LatencyCommand.class,
            TransportCommand.class,
            RingsCommand.class,
            HybridCommand.class,
            EncodingCommand.class,
            NexmarkCommand.class,
            TpchStreamCommand.class,
            TemporalCommand.class,
            SsbCommand.class,
            ReadersCommand.class,
            KafkaCommand.class,
            RecordsCommand.class,
            ModelCommand.class,
            ReportCommand.class
        })
public final class Bench implements Callable<Integer> {

    private static final String LOG_SETTINGS = "log4j2.configurationFile";

    @Spec private CommandSpec spec;

    private Bench() {}

    /**
     * Exits with 0 if all went well, 1 if a check or a run failed, 2 if the arguments are wrong.
     */
    public static void main(String[] args) {
        if (System.getProperty(LOG_SETTINGS) == null) {
            System.setProperty(LOG_SETTINGS, "bench-log4j2.properties");
        }
        System.exit(commandLine().execute(args));
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "the name of a measurement is missing");
    }

    /** The command line of one of its commands, as it was typed. */
    static String typed(CommandSpec spec) {
        return "bin/bench "
                + String.join(" ", spec.commandLine().getParent().getParseResult().originalArgs());
    }

    static CommandLine commandLine() {
        return Cli.commandLine(new Bench());
    }
}
