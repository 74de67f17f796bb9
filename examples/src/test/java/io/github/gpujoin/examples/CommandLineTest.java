// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Help of every command. */
class CommandLineTest extends CommandScenario {

    static List<Callable<Integer>> commands() {
        return List.of(new StarEtl(), new FileJoin(), new SqlExample());
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldOfferHelpAndNoVersion(Callable<Integer> command) {
        Run help = run(command, List.of("--help"));
        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).contains("-h, --help").doesNotContain("--version", "-V");
        assertThat(run(command, List.of("-V")).exitCode()).isEqualTo(2);
    }
}
