// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.VersionedScenario.FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.LATE_VERSIONS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.PRICES;
import static io.github.gpujoin.flink.runtime.VersionedScenario.chunk;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.watermark.LongWatermark;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Joins with a versioned dimension: random facts, versions, watermarks and restores against a
 * look-up of all versions of a key, and single cases.
 */
@ExtendWith(RegionLeakExtension.class)
class VersionedDimensionTest {

    private VersionedScenario scenario =
            new VersionedScenario(new Random(0), new HashMapStateBackend());

    @AfterEach
    void closeScenario() throws Exception {
        scenario.close();
    }

    /** With 9 hashes, each of 40 keys shares its hash with others. */
    @ParameterizedTest(name = "seed={0} engine={1} RocksDB={2} hashes={3}")
    @CsvSource({
        "1,cpu,false,0",
        "2,cpu,true,0",
        "3,cpu,false,0",
        "4,cpu,true,0",
        "5,cpu,false,0",
        "6,cpu,false,0",
        "7,reference,true,0",
        "8,reference,false,0",
        "9,cpu,false,9",
        "10,cpu,true,9",
        "11,reference,false,9"
    })
    void shouldJoinEachFactWithTheVersionOfItsTime(
            long seed, String engine, boolean rocksDb, int hashes) throws Exception {
        Random random = new Random(seed);
        StateBackend backend =
                rocksDb ? new EmbeddedRocksDBStateBackend() : new HashMapStateBackend();
        scenario = new VersionedScenario(random, backend, hashes);
        JoinEngineFactory factory =
                engine.equals("cpu")
                        ? new CpuJoinEngineFactory()
                        : new ReferenceJoinEngineFactory();
        scenario.open(factory, 2, null);
        long now = 0;
        for (int step = 0; step < 300; step++) {
            now += random.nextInt(20);
            switch (random.nextInt(14)) {
                case 0 -> scenario.restore(factory, 1 + random.nextInt(4));
                case 1, 2 ->
                        scenario.versionWatermark(
                                Math.max(scenario.versionMark, now - random.nextInt(100)));
                case 3, 4 ->
                        scenario.factWatermark(
                                Math.max(scenario.factMark, now - random.nextInt(100)));
                case 5, 6, 7, 8 -> scenario.versions(random.nextInt(30), now);
                default -> scenario.facts(random.nextInt(30), now);
            }
        }
        scenario.versionWatermark(Long.MAX_VALUE);
        scenario.factWatermark(Long.MAX_VALUE);
        scenario.collect();
        assertThat(scenario.results)
                .hasSizeGreaterThan(500)
                .containsExactlyInAnyOrderElementsOf(scenario.expected());
        assertThat(scenario.lateFacts)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(scenario.expectedLateFacts);
        assertThat(scenario.lateVersions)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(scenario.expectedLateVersions);
    }

    @Test
    void shouldStoreEachWaitingRowOnce() throws Exception {
        scenario = new VersionedScenario(new Random(9), new HashMapStateBackend());
        scenario.open(new CpuJoinEngineFactory(), 1, null);
        long[] bytes = new long[4];
        for (int i = 0; i < bytes.length; i++) {
            scenario.facts(2_000, 1_000);
            // the watermark is always within the times of all chunks so far
            scenario.versionWatermark(900 + 10 * i);
            scenario.factWatermark(900 + 10 * i);
            bytes[i] = scenario.subtask(0).snapshot(i, i).getStateSize();
        }
        assertThat(bytes[3]).isGreaterThan(bytes[0]).isLessThan(4 * bytes[0]);
        scenario.versionWatermark(Long.MAX_VALUE);
        scenario.factWatermark(Long.MAX_VALUE);
        assertThat(scenario.subtask(0).snapshot(5, 5).getStateSize()).isLessThan(bytes[0] / 4);
    }

    @Test
    void shouldJoinRowsAfterADrainedSavepoint() throws Exception {
        JoinEngineFactory engine = new CpuJoinEngineFactory();
        scenario.open(engine, 1, null);
        JoinHarness drained = scenario.subtask(0);
        drained.probeWatermark(30);
        drained.probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 35, 0})));
        drained.probe(chunk(FACTS, -1, List.of(new long[] {1, 7, 36})));
        drained.probeWatermark(Long.MAX_VALUE);
        drained.endBuild();
        drained.endProbe();
        drained.finish();
        assertThat(drained.results()).containsExactly("7|10");
        scenario.restore(engine, 1);

        JoinHarness resumed = scenario.subtask(0);
        resumed.probe(chunk(FACTS, -1, List.of(new long[] {1, 8, 30}, new long[] {1, 9, 40})));
        resumed.probeWatermark(50);
        resumed.runMails(Integer.MAX_VALUE);
        assertThat(resumed.results()).containsExactly("9|10");
        assertThat(resumed.getSideOutput(LATE_FACTS)).hasSize(1);
    }

    @Test
    void shouldForwardAWatermarkAfterTheFactsBeforeIt() throws Exception {
        scenario.open(new CpuJoinEngineFactory(), 1, null);
        JoinHarness join = scenario.subtask(0);
        join.probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 5, 0}, new long[] {1, 20, 15, 0})));
        join.probe(chunk(FACTS, -1, List.of(new long[] {1, 7, 14}, new long[] {1, 8, 15})));
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput()).isEmpty();
        join.probeWatermark(14);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput()).containsExactly(new StreamRecord<>("7|10"), new Watermark(14));
        join.probeWatermark(30);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput())
                .endsWith(new StreamRecord<>("8|20"), new Watermark(30))
                .hasSize(4);
    }

    @Test
    void shouldForwardAUserWatermarkAfterRestoredFacts() throws Exception {
        scenario.open(new CpuJoinEngineFactory(), 1, null);
        scenario.subtask(0).probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 5, 0})));
        scenario.subtask(0)
                .probe(chunk(FACTS, -1, List.of(new long[] {1, 7, 14}, new long[] {1, 8, 9})));
        scenario.restore(new CpuJoinEngineFactory(), 1);

        JoinHarness join = scenario.subtask(0);
        WatermarkEvent mark = new WatermarkEvent(new LongWatermark(7, "user"), false);
        join.probeWatermark(mark);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.getOutput()).isEmpty();
        join.probeWatermark(14);
        join.runMails(Integer.MAX_VALUE);
        assertThat(join.results()).containsExactly("8|10", "7|10");
        assertThat(join.getOutput()).hasSize(4).element(3).isSameAs(mark);
    }

    @Test
    void shouldEmitTheRowKindOfALateVersion() throws Exception {
        scenario.open(new CpuJoinEngineFactory(), 1, null);
        JoinHarness join = scenario.subtask(0);
        join.probeWatermark(30);
        join.probe(chunk(PRICES, 0, List.of(new long[] {1, 10, 30, RowChange.DELETE.code()})));
        Row late = join.getSideOutput(LATE_VERSIONS).remove().getValue();
        assertThat(late.getKind()).isEqualTo(RowKind.DELETE);
        assertThat(late.getFieldNames(true)).containsExactly("id", "value", "$timestamp");
        assertThat(late.<Long>getFieldAs("$timestamp")).isEqualTo(30);
    }

    @Test
    void shouldRefuseFactsWithoutATimestamp() throws Exception {
        scenario.open(new CpuJoinEngineFactory(), 1, null);
        Chunk untimed = chunk(FACTS, -1, List.of(new long[] {1, 7, Long.MIN_VALUE}));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> scenario.subtask(0).probe(untimed))
                .withMessageContaining("without a timestamp");
    }
}
