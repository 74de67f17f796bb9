// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.engine.EngineSelection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.watermark.LongWatermark;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.io.network.partition.MockResultPartitionWriter;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What becomes of facts that come faster than their results go. */
@ExtendWith(RegionLeakExtension.class)
class SlowOutputTest {

    private static final int CHUNK_ROWS = 8_192;

    private static final int FAN_OUT = 2;

    /** Takes 20 us for each row, and so 0.3 s for a chunk of facts. */
    private static final class SlowEmitter implements ResultEmitter<String> {
        private final TextEmitter rows = new TextEmitter();

        @Override
        public void emit(
                ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(20L * (toRow - fromRow)));
            rows.emit(batch, fromRow, toRow, output);
        }
    }

    /** Chunks of facts that all match. */
    private static List<Chunk> facts(int chunks) {
        List<Chunk> facts = new ArrayList<>();
        ChunkBuilder builder = new ChunkBuilder(JoinScenario.spec().factSchema(), 16 * CHUNK_ROWS);
        for (int i = 0; i < chunks; i++) {
            for (int row = 0; row < CHUNK_ROWS; row++) {
                builder.putLong(0, 1);
                builder.putLong(1, row);
                builder.endRow();
            }
            facts.add(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, i));
        }
        return facts;
    }

    private static JoinHarness open() throws Exception {
        JoinHarness join =
                new JoinHarness(
                        new StarJoinOperatorFactory<>(
                                JoinScenario.settings(
                                        JoinScenario.spec(),
                                        EngineSelection.only(new CpuJoinEngineFactory()),
                                        0),
                                context -> new SlowEmitter()),
                        JoinScenario.MAX_PARALLELISM,
                        1,
                        0);
        join.initializeEmptyState();
        join.open();
        return join;
    }

    @Test
    void shouldReadNoMoreFactsThanAFewChunksAheadOfTheirResults() throws Exception {
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 0).buildRow(1, 1);
        int chunks = 25;
        try (JoinHarness join = open()) {
            for (Chunk chunk : scenario.buildChunks()) {
                join.build(chunk);
            }
            join.endBuild();
            join.runMails(10);
            List<Integer> ahead = new ArrayList<>();
            int read = 0;
            for (Chunk chunk : facts(chunks)) {
                join.probe(chunk);
                ahead.add(++read - join.results().size() / CHUNK_ROWS / FAN_OUT);
            }
            // 4 wait, the engine has 4, and one comes
            assertThat(ahead).hasSizeBetween(chunks, chunks + 1).allMatch(count -> count <= 10);
        }
    }

    @Test
    void shouldNotLetABarrierWaitForTheResultsOfFactsBeforeIt() throws Exception {
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 0).buildRow(1, 1);
        int chunks = 20;
        try (JoinHarness join = open()) {
            for (Chunk chunk : scenario.buildChunks()) {
                join.build(chunk);
            }
            join.endBuild();
            join.runMails(10);
            join.probe(facts(1).get(0));
            int before = join.results().size();
            join.announceCheckpoint(1);
            join.probe(facts(1).get(0));
            assertThat(join.results()).hasSizeGreaterThan(before);
            before = join.results().size();
            for (Chunk chunk : facts(chunks - 2)) {
                join.probe(chunk);
                join.runMails(1);
            }
            assertThat(join.results()).hasSize(before);
            join.snapshot(1, 1);
            join.runMails(1);
            assertThat(join.results()).hasSizeGreaterThan(before);
            join.endProbe();
            join.finish();
            assertThat(join.results()).hasSize(chunks * CHUNK_ROWS * FAN_OUT);
        }
    }

    /** The bound that docs/architecture/operator.md states. */
    @Test
    void shouldEmitASliceAtMostInFrontOfABarrierWhereNoMoreFactsCome() throws Exception {
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 0).buildRow(1, 1);
        try (JoinHarness join = open()) {
            for (Chunk chunk : scenario.buildChunks()) {
                join.build(chunk);
            }
            join.endBuild();
            join.runMails(10);
            join.announceCheckpoint(1);
            // of which 0.1 s are spent on results, and the rest waits
            for (Chunk chunk : facts(8)) {
                join.probe(chunk);
            }
            int early = join.results().size();
            assertThat(early).isLessThan(2 * CHUNK_ROWS * FAN_OUT);
            join.runMails(1);
            assertThat(join.results()).hasSize(early);
            for (int i = 0; i < 10; i++) {
                int before = join.results().size();
                join.runMails(1);
                assertThat(join.results().size() - before)
                        .isBetween(1, ResultEmitter.SLICE_ROWS + FAN_OUT - 1);
            }
        }
    }

    @Test
    void shouldLeaveTheRoomOfTheOutputToReadingInFrontOfABarrier() throws Exception {
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 0).buildRow(1, 1);
        FullOutput output = new FullOutput();
        try (JoinHarness join = open()) {
            join.getEnvironment().addOutputs(List.of(output));
            for (Chunk chunk : scenario.buildChunks()) {
                join.build(chunk);
            }
            join.endBuild();
            join.runMails(10);
            join.announceCheckpoint(1);
            for (Chunk chunk : facts(8)) {
                join.probe(chunk);
            }
            int before = join.results().size();
            join.runMails(10);
            assertThat(join.results()).hasSize(before);
            output.room.complete(null);
            join.runMails(1);
            assertThat(join.results()).hasSizeGreaterThan(before);
        }
    }

    /** Has no free buffer until told otherwise. */
    private static final class FullOutput extends MockResultPartitionWriter {
        private final CompletableFuture<Void> room = new CompletableFuture<>();

        @Override
        public CompletableFuture<?> getAvailableFuture() {
            return room;
        }
    }

    @Test
    void shouldNotLetMarkersAndUserWatermarksOvertakeFactsThatWait() throws Exception {
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 10).fact(1, 100);
        LatencyMarker marker = new LatencyMarker(1, new OperatorID(), 0);
        WatermarkEvent mark = new WatermarkEvent(new LongWatermark(7, "user"), false);
        try (JoinHarness join = open()) {
            join.build(scenario.buildChunks().get(0));
            join.probe(scenario.factChunks().get(0));
            join.probeMarker(marker);
            join.probeMarker(marker);
            join.probeWatermark(mark);
            assertThat(join.getOutput()).isEmpty();
            join.endBuild();
            join.runMails(10);
            assertThat(join.getOutput()).hasSize(4).element(1).isEqualTo(marker);
            assertThat(join.getOutput().peek()).isInstanceOf(StreamRecord.class);
        }
    }
}
