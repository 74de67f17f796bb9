// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.files;

import io.github.gpujoin.examples.FileJoin;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code gpu-join} in a process of its own. The time is from its start to its end, and so includes
 * the start of the JVM and of Flink.
 */
public final class GpuJoinProcess extends FileJoinContender {

    private final List<String> command;

    /**
     * @param command that runs {@code gpu-join}, without the options that name files and keys
     */
    public GpuJoinProcess(JoinFiles files, List<String> command) {
        super(files);
        this.command = List.copyOf(command);
    }

    /** Returns a command that runs the classes of this process, for tests. */
    public static List<String> thisClassPath() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx2g");
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--add-opens"))
                .forEach(command::add);
        command.add("-cp");
        command.add(
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(FileJoin.class.getName());
        return command;
    }

    @Override
    public String name() {
        return "gpu-join";
    }

    @Override
    void join(JoinFiles files, Path result) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(command);
        line.addAll(
                List.of(
                        "--build=" + files.build(),
                        "--probe=" + files.probe(),
                        "--build-key=" + JoinFiles.BUILD_KEY,
                        "--probe-key=" + JoinFiles.PROBE_KEY,
                        "--parallelism=" + files.threads(),
                        "--engine=cpu",
                        "--out=" + result));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(
                    "gpu-join failed: exitCode=%d, output=%s"
                            .formatted(process.exitValue(), output));
        }
    }
}
