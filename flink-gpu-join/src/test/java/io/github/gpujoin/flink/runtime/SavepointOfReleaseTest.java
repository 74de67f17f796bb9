// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.runtime.SavedScenario.Moment;
import io.github.gpujoin.flink.runtime.SavedScenario.Saved;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.util.OperatorSnapshotUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Canonical savepoints: those of each release, which lie among the test resources, are restored by
 * this one, on every state backend and engine; and so are those of another backend.
 *
 * <p>A release adds its own before it is made, and leaves those of the others as they are:
 *
 * <pre>
 * mvn -pl flink-gpu-join test -Dtest=SavepointOfReleaseTest -Dgpu-join.write-savepoints=0.2.0
 * </pre>
 */
@ExtendWith(RegionLeakExtension.class)
class SavepointOfReleaseTest {

    private static final String WRITE = "gpu-join.write-savepoints";
    private static final Path FOLDER = Path.of("src", "test", "resources", "savepoints");
    private static final String STATE = ".savepoint";
    private static final String RESULTS = ".results";

    /** By the name under which Flink's configuration knows them. */
    enum Backend {
        HASHMAP {
            @Override
            StateBackend create() {
                return new HashMapStateBackend();
            }
        },
        ROCKSDB {
            @Override
            StateBackend create() {
                return new EmbeddedRocksDBStateBackend();
            }
        };

        abstract StateBackend create();
    }

    static Stream<Arguments> savepoints() throws IOException {
        List<Arguments> all = new ArrayList<>();
        try (Stream<Path> releases = Files.list(FOLDER)) {
            for (Path release : releases.sorted().toList()) {
                for (Moment moment : Moment.values()) {
                    for (boolean partitioned : new boolean[] {true, false}) {
                        for (Backend backend : Backend.values()) {
                            all.add(Arguments.of(release, moment, partitioned, backend));
                        }
                    }
                }
            }
        }
        return all.stream();
    }

    @ParameterizedTest(name = "{0} in {1}, partitioned={2}, on {3}")
    @MethodSource("savepoints")
    void shouldGoOnFromTheSavepointsOfEveryRelease(
            Path release, Moment moment, boolean partitioned, Backend backend) throws Exception {
        Saved saved = read(release, name(moment, partitioned));
        SavedScenario scenario = new SavedScenario(moment, partitioned);
        scenario.goOn(saved, new CpuJoinEngineFactory(), backend.create());
        scenario.goOn(saved, new ReferenceJoinEngineFactory(), backend.create());
        if (partitioned) {
            scenario.goOnDivided(saved, backend.create());
        }
    }

    @ParameterizedTest(name = "from {0}")
    @EnumSource(Backend.class)
    void shouldGoOnWithAnotherStateBackend(Backend from) throws Exception {
        JoinEngineFactory cpu = new CpuJoinEngineFactory();
        for (Moment moment : Moment.values()) {
            for (boolean partitioned : new boolean[] {true, false}) {
                SavedScenario scenario = new SavedScenario(moment, partitioned);
                Saved saved = scenario.save(from.create());
                for (Backend to : Backend.values()) {
                    scenario.goOn(saved, cpu, to.create());
                    if (partitioned) {
                        scenario.goOnDivided(saved, to.create());
                    }
                }
            }
        }
    }

    @Test
    void shouldRefuseACorruptSavepointAndGoOnFromTheOneBefore(@TempDir Path folder)
            throws Exception {
        SavedScenario scenario = new SavedScenario(Moment.JOIN, true);
        Saved whole = scenario.save(new HashMapStateBackend());
        write(folder, "corrupt", whole);
        Path file = folder.resolve("corrupt" + STATE);
        byte[] bytes = Files.readAllBytes(file);
        // Value of the first build row, wherever it lies.
        bytes[find(bytes, 1_000_000)] ^= 1;
        Files.write(file, bytes);
        Saved corrupt = read(folder, "corrupt");

        assertThatThrownBy(
                        () ->
                                scenario.goOn(
                                        corrupt,
                                        new CpuJoinEngineFactory(),
                                        new HashMapStateBackend()))
                .hasStackTraceContaining("Chunk checksum does not match its bytes");
        // Of a log whose size the savepoint knows, chunks are read once: when tables are made.
        assertThatThrownBy(() -> scenario.goOnDivided(corrupt, new HashMapStateBackend()))
                .hasStackTraceContaining("Chunk checksum does not match its bytes")
                .hasStackTraceContaining("Build log damaged: partition=");
        scenario.goOn(whole, new CpuJoinEngineFactory(), new HashMapStateBackend());
    }

    private static int find(byte[] bytes, long value) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int at = 0;
        while (buffer.getLong(at) != value) {
            at++;
        }
        return at;
    }

    /** Makes the test data of the next release. */
    @Test
    @EnabledIfSystemProperty(named = WRITE, matches = ".+")
    void shouldWriteTheSavepointsOfThisRelease() throws Exception {
        Path release = Files.createDirectories(FOLDER.resolve(System.getProperty(WRITE)));
        for (Moment moment : Moment.values()) {
            for (boolean partitioned : new boolean[] {true, false}) {
                SavedScenario scenario = new SavedScenario(moment, partitioned);
                write(release, name(moment, partitioned), scenario.save(new HashMapStateBackend()));
            }
        }
        assertThat(release).isDirectoryContaining("glob:**" + STATE);
    }

    private static String name(Moment moment, boolean partitioned) {
        return moment.name().toLowerCase(java.util.Locale.ROOT)
                + (partitioned ? "-partitioned" : "-replicated");
    }

    private static Saved read(Path folder, String name) throws Exception {
        OperatorSubtaskState state =
                OperatorSnapshotUtil.readStateHandle(folder.resolve(name + STATE).toString());
        return new Saved(state, Files.readAllLines(folder.resolve(name + RESULTS)));
    }

    private static void write(Path folder, String name, Saved saved) throws Exception {
        OperatorSnapshotUtil.writeStateHandle(
                saved.state(), folder.resolve(name + STATE).toString());
        Files.write(folder.resolve(name + RESULTS), saved.results());
    }
}
