// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FallbackDeduplicatorTest {

    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final ChunkSchema DIMENSION =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS,
                    List.of(new DimensionSpec("dimension", DIMENSION, 0, 0, JoinKind.INNER)));

    /** Bytes of a result: probe row and value. */
    private static final int ROW_BYTES = 12;

    /** Creates an engine with batches of 1024 rows and submits the facts. */
    private static JoinEngine probed(List<Object[]> buildRows, Object[]... facts) {
        JoinEngine engine = new ReferenceJoinEngineFactory().create(SPEC);
        engine.submitBuild(0, TestChunks.of(DIMENSION, 0, buildRows));
        engine.finishBuild();
        engine.submitProbe(TestChunks.of(FACTS, facts), 0);
        return engine;
    }

    @Test
    void shouldFailFallbackIfRowHasTooManyEmittedResults() {
        List<Object[]> buildRows = new ArrayList<>();
        for (long i = 0; i < 2_500; i++) {
            buildRows.add(new Object[] {7L, i});
        }
        for (long i = 0; i < 300; i++) {
            buildRows.add(new Object[] {9L, i});
        }
        // Equal build rows yield separate results.
        for (int i = 0; i < 700; i++) {
            buildRows.add(new Object[] {11L, 5L});
        }
        Object[][] facts = {{8L}, {9L}, {7L}, {11L}};
        try (JoinEngine engine = probed(buildRows, facts)) {
            var incomplete = new FallbackDeduplicator.Recorder(SPEC, 800 * ROW_BYTES);
            // 300 results of row 1 and 724 of row 2, then 1024 of row 2
            incomplete.record(engine.poll());
            assertThat(incomplete.counts()).hasSize(724);
            incomplete.record(engine.poll());
            assertThatIllegalStateException()
                    .isThrownBy(incomplete::counts)
                    .withMessageContaining("maxBytes=9600, row=2");
            // the last 752 of row 2 and 272 of row 3, all alike
            incomplete.record(engine.poll());
            assertThat(incomplete.counts()).hasSize(1).containsValue(272);
        }
    }

    @Test
    void shouldFailIfFallbackEngineOmitsEmittedResult() {
        Map<ByteBuffer, Integer> other = new HashMap<>();
        other.put(ByteBuffer.wrap(new byte[ROW_BYTES]), 1);
        List<Object[]> buildRows = List.<Object[]>of(new Object[] {1L, 10L});
        try (JoinEngine engine = probed(buildRows, new Object[] {1L});
                var filter = new FallbackDeduplicator.RepeatFilter(SPEC)) {
            filter.expect(other);
            assertThatIllegalStateException()
                    .isThrownBy(() -> filter.apply(engine.poll()))
                    .withMessageContaining("missing=1");
        }
    }
}
