// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Runs a command line so that whatever is wrong is one sentence on the error stream: exit code 2
 * where the arguments are, 1 where the run is, 0 where nothing is.
 */
public final class Cli {

    /** Something the user can put right; the message is the sentence to show. */
    public static final class UserError extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public UserError(String message) {
            super(message);
        }
    }

    private Cli() {}

    /** Runs the command and returns its exit code. */
    public static int run(Callable<Integer> command, String... arguments) {
        return commandLine(command).execute(arguments);
    }

    /** The command's line, for tests that catch what it prints. */
    public static CommandLine commandLine(Callable<Integer> command) {
        CommandLine line = new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true);
        // Comes with --help, but there is no version to print.
        CommandSpec spec = line.getCommandSpec();
        spec.remove(spec.findOption("--version"));
        line.setParameterExceptionHandler(
                (error, given) -> {
                    CommandLine failed = error.getCommandLine();
                    say(failed, error.getMessage() + " (see --help)");
                    return failed.getCommandSpec().exitCodeOnInvalidInput();
                });
        line.setExecutionExceptionHandler(
                (error, failed, result) -> {
                    say(failed, Failures.sentence(error));
                    return failed.getCommandSpec().exitCodeOnExecutionException();
                });
        return line;
    }

    private static void say(CommandLine line, String sentence) {
        PrintWriter err = line.getErr();
        err.println(line.getCommandSpec().qualifiedName() + ": " + sentence);
        err.flush();
    }
}
