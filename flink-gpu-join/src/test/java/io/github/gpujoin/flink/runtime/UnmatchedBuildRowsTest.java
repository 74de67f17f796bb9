// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.PairScenario.BUILD;
import static io.github.gpujoin.flink.runtime.PairScenario.PARTITIONS;
import static io.github.gpujoin.flink.runtime.PairScenario.PROBE;
import static io.github.gpujoin.flink.runtime.PairScenario.RECORD;
import static io.github.gpujoin.flink.runtime.PairScenario.chunks;
import static io.github.gpujoin.flink.runtime.PairScenario.expected;
import static io.github.gpujoin.flink.runtime.PairScenario.feed;
import static io.github.gpujoin.flink.runtime.PairScenario.operator;
import static io.github.gpujoin.flink.runtime.PairScenario.records;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.emit.HashedKeys;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.record.KeyLayout;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When right and full joins emit build rows without a match, and which rows these are. */
@ExtendWith(RegionLeakExtension.class)
class UnmatchedBuildRowsTest {

    @Test
    void shouldEmitUnmatchedRowsAtTheEndBeforeTheLastWatermark() throws Exception {
        List<Row> builds = records(new Random(5), 60);
        try (JoinHarness harness = new JoinHarness(operator(PairKind.RIGHT), PARTITIONS, 1, 0)) {
            harness.open();
            feed(List.of(harness), chunks(BUILD, builds, 0), List.of());
            harness.endBuild();
            harness.probeWatermark(7);
            harness.runMails(1_000);
            // a stop with a savepoint that does not drain leaves this output
            assertThat(harness.getOutput()).containsExactly(new Watermark(7));
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.runMails(1_000);
            assertThat(harness.results()).hasSize(60);
            assertThat(harness.getOutput()).last().isEqualTo(Watermark.MAX_WATERMARK);
            harness.finish();
            assertThat(harness.getOutput()).hasSize(62);
        }
    }

    /** The largest watermark also arrives if one channel has ended and the others are idle. */
    @Test
    void shouldNotTreatTheLargestWatermarkAsTheEnd() throws Exception {
        List<Row> builds = List.of(Row.of(3, 1));
        List<Row> probes = List.of(Row.of(3, 4));
        try (JoinHarness harness = new JoinHarness(operator(PairKind.RIGHT), PARTITIONS, 1, 0)) {
            harness.open();
            feed(List.of(harness), chunks(BUILD, builds, 0), List.of());
            harness.endBuild();
            harness.probeWatermark(Long.MAX_VALUE);
            harness.runMails(1_000);
            assertThat(harness.getOutput()).isEmpty();
            feed(List.of(harness), List.of(), chunks(PROBE, probes, ChunkDescriptor.FACTS));
            harness.endProbe();
            harness.finish();
            assertThat(harness.results())
                    .containsExactlyElementsOf(expected(PairKind.RIGHT, builds, probes))
                    .hasSize(1);
            assertThat(harness.getOutput()).last().isEqualTo(Watermark.MAX_WATERMARK);
        }
    }

    /** All text keys have one hash, so that each row is a candidate of all rows. */
    @ParameterizedTest
    @EnumSource(
            value = PairKind.class,
            names = {"RIGHT", "FULL"})
    void shouldEmitRowsWhoseHashMatchesAndWhoseKeyDoesNot(PairKind kind) throws Exception {
        long seed = 11;
        Random random = new Random(seed);
        List<Row> builds = records(random, 80);
        List<Row> probes = records(random, 90);
        SelectedKey<Row, String> key =
                new SelectedKey<>(
                        row -> row.getField(0) == null ? null : "key " + row.getField(0),
                        KeyLayout.of(Types.STRING, Nulls.MATCH_NOTHING)
                                .hashedBy((bytes, length) -> 7));
        RecordLayout<Row> layout = RecordLayout.whole(RECORD, key, new SerializerConfigImpl());
        RecordLayout<Row> build = layout.numbered();
        RecordLayout<Row> probe = layout.keepingNullKeys(Map.of(RecordLayout.KEY, 1));
        StarJoinOperatorFactory<String> operator =
                operator(
                        kind,
                        EngineSelection.only(new CpuJoinEngineFactory()),
                        build,
                        probe,
                        new HashedKeys<>(key, key));
        try (JoinHarness harness = new JoinHarness(operator, PARTITIONS, 1, 0)) {
            harness.open();
            feed(
                    List.of(harness),
                    chunks(build, builds, 0),
                    chunks(probe, probes, ChunkDescriptor.FACTS));
            harness.endBuild();
            harness.runMails(1_000);
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.finish();
            assertThat(harness.results().stream().sorted())
                    .as("seed=%s", seed)
                    .containsExactlyElementsOf(
                            expected(kind, builds, probes).stream().sorted().toList());
        }
    }
}
