// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Runs a command and reports any failure as one line on the error stream. The exit code is 0 after
 * success, 1 after a failed run or a {@link UserError}, and 2 after invalid arguments.
 */
public final class Cli {

    /** A failure that the user can correct. {@link #run} reports its message. */
    public static final class UserError extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public UserError(String message) {
            super(message);
        }
    }

    private Cli() {}

    /** Runs the command and returns the exit code. */
    public static int run(Callable<Integer> command, String... arguments) {
        return commandLine(command).execute(arguments);
    }

    /** Creates the command line. Tests use it to capture the output of a command. */
    public static CommandLine commandLine(Callable<Integer> command) {
        CommandLine line = new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true);
        // The standard options include --version, but there is no version to print.
        CommandSpec spec = line.getCommandSpec();
        spec.remove(spec.findOption("--version"));
        line.setParameterExceptionHandler(
                (error, arguments) -> {
                    CommandLine failed = error.getCommandLine();
                    printError(failed, error.getMessage() + " (see --help)");
                    return failed.getCommandSpec().exitCodeOnInvalidInput();
                });
        line.setExecutionExceptionHandler(
                (error, failed, result) -> {
                    printError(failed, Failures.message(error));
                    return failed.getCommandSpec().exitCodeOnExecutionException();
                });
        return line;
    }

    private static void printError(CommandLine line, String message) {
        PrintWriter err = line.getErr();
        err.println(line.getCommandSpec().qualifiedName() + ": " + message);
        err.flush();
    }
}
