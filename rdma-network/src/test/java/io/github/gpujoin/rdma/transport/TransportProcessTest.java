// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.rdma.session.ReaderState;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.session.WriterState;
import io.github.gpujoin.rdma.transport.testing.ProcessPeer;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A channel between two JVMs of which one is killed at some stage. */
@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
public abstract class TransportProcessTest {

    private static final int PAYLOADS = 5000;

    private final List<Process> processes = new ArrayList<>();

    /** Returns the transport as an argument of {@link ProcessPeer}. */
    protected abstract String transport();

    @AfterEach
    void killProcesses() throws Exception {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldDeliverEveryByteBetweenTwoProcesses() throws Exception {
        try (ProcessPeer.Reader reader = new ProcessPeer.Reader(transport())) {
            Process writer = startWriter(reader.port(), 0);
            while (writer.isAlive()) {
                reader.step();
            }
            assertThat(reader.received()).isEqualTo(PAYLOADS);
            assertThat(writer.exitValue()).isZero();
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"DISCONNECTED", "GREETED", "PROVEN", "OPEN", "OPEN HALF"})
    void shouldSurviveAWriterKilledWhile(String stage) throws Exception {
        try (ProcessPeer.Reader reader = new ProcessPeer.Reader(transport())) {
            Process first = startWriter(reader.port(), 0);
            BufferedReader output = first.inputReader();
            while (first.isAlive()) {
                if (output.ready() && output.readLine().equals(stage)) {
                    first.destroyForcibly();
                }
                reader.step();
            }
            assertThat(first.exitValue()).as("exit value of a killed process").isEqualTo(128 + 9);
            while (reader.session().state() == ReaderState.OPEN) {
                reader.step();
            }
            Process second = startWriter(reader.port(), 1);
            while (second.isAlive()) {
                reader.step();
            }
            assertThat(reader.session().attempt()).isEqualTo(1);
            assertThat(reader.received()).isEqualTo(PAYLOADS);
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"WAITING", "OPEN", "OPEN READING"})
    void shouldDetectAReaderKilledWhile(String stage) throws Exception {
        Process reader = start(ProcessPeer.ReaderMain.class, transport());
        BufferedReader output = reader.inputReader();
        int port = Integer.parseInt(output.readLine().substring("PORT ".length()));
        try (Transport transport = ProcessPeer.open(transport());
                WriterSession writer = ProcessPeer.writer(transport, port, 0)) {
            int next = 0;
            while (reader.isAlive()) {
                if (output.ready() && output.readLine().equals(stage)) {
                    reader.destroyForcibly();
                }
                byte[] payload = ProcessPeer.payload(0, next);
                next += writer.tryWrite(payload, Memory.BYTES, payload.length) ? 1 : 0;
                writer.step(System.nanoTime());
            }
            do {
                writer.step(System.nanoTime());
            } while (writer.state() != WriterState.DISCONNECTED);
            assertThat(writer.lastLoss()).isNotBlank();
        }
    }

    private Process startWriter(int port, int attempt) throws IOException {
        return start(
                ProcessPeer.class,
                transport(),
                String.valueOf(port),
                String.valueOf(attempt),
                String.valueOf(PAYLOADS));
    }

    private Process start(Class<?> main, String... arguments) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx128m",
                                "-cp",
                                System.getProperty(
                                        "surefire.test.class.path",
                                        System.getProperty("java.class.path")),
                                main.getName()));
        command.addAll(List.of(arguments));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        processes.add(process);
        return process;
    }
}
