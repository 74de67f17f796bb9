// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;

/**
 * A partitioned dimension that was complete, beside a replicated one whose rows are replayed after
 * a restore.
 */
class LateRowsAfterRestoreTest {

    private static final int PARTITIONED = 0;
    private static final int REPLICATED = 1;

    private static final long KEY = 5;

    private static JoinHarness join() throws Exception {
        DimensionSpec first = JoinScenario.spec().dimensions().get(0);
        DimensionSpec second =
                new DimensionSpec("replicated", first.schema(), 0, 0, JoinKind.INNER);
        JoinSpec spec = new JoinSpec(JoinScenario.spec().factSchema(), List.of(first, second));
        JoinSettings settings =
                JoinScenario.settings(
                                spec, EngineSelection.only(new ReferenceJoinEngineFactory()), 1_000)
                        .withReplicas(new Replicas(Map.of(REPLICATED, Replicas.UNLIMITED)));
        return new JoinHarness(
                new StarJoinOperatorFactory<>(settings, context -> new TextEmitter()),
                JoinScenario.MAX_PARALLELISM,
                1,
                0);
    }

    private static void replay(JoinHarness harness) throws Exception {
        ChunkBuilder rows = new ChunkBuilder(JoinScenario.spec().dimensions().get(0).schema(), 64);
        rows.putLong(0, KEY);
        rows.putLong(1, 70);
        rows.endRow();
        harness.build(rows.seal(REPLICATED, ChunkDescriptor.UNPARTITIONED, 0, 0));
        harness.mark(
                new LoadMark(REPLICATED, ChunkDescriptor.UNPARTITIONED, 0, 1, Status.COMPLETE));
    }

    @Test
    void shouldNotJoinRowsThatComeWhileOtherDimensionsAreReplayed() throws Exception {
        Chunk row = new JoinScenario(true).buildRow(KEY, 50).buildChunks().get(0);
        OperatorSubtaskState state;
        try (JoinHarness harness = join()) {
            harness.initializeEmptyState();
            harness.open();
            for (int partition = 0; partition < JoinScenario.MAX_PARALLELISM; partition++) {
                harness.mark(new LoadMark(PARTITIONED, partition, 0, 1, Status.COMPLETE));
            }
            replay(harness);
            harness.runMails(100);
            assertThatThrownBy(() -> harness.build(row)).hasMessageContaining("Late dimension row");
            state = harness.snapshot(1, 1);
        }
        try (JoinHarness harness = join()) {
            harness.initializeState(state);
            harness.open();
            assertThatThrownBy(() -> harness.build(row)).hasMessageContaining("Late dimension row");
            replay(harness);
            assertThatThrownBy(() -> harness.build(row)).hasMessageContaining("Late dimension row");
        }
    }
}
