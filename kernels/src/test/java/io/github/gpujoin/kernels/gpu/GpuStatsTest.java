// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Statistics of an engine; needs no device. */
@ExtendWith(RegionLeakExtension.class)
class GpuStatsTest {

    private static final int DIMENSIONS = 6;
    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    SCHEMA,
                    Collections.nCopies(
                            DIMENSIONS, new DimensionSpec("d", SCHEMA, 0, 0, JoinKind.INNER)));
    private static final Chunk CHUNK =
            TestChunks.of(SCHEMA, 0, List.of(new Object[] {1L}, new Object[] {2L}));

    private final GpuOptions options = GpuOptions.defaults().withSlots(1, 64);
    private final RefusingDriver driver = new RefusingDriver();
    private DeviceLease lease;

    @BeforeEach
    void openDevice() {
        lease = new DeviceLease(driver, options);
    }

    @AfterEach
    void releaseDevice() {
        lease.release();
    }

    private GpuJoinEngine engine() {
        lease.retain();
        return new GpuJoinEngine(SPEC, options, lease);
    }

    private static void load(GpuJoinEngine engine) {
        for (int d = 0; d < DIMENSIONS; d++) {
            engine.submitBuild(d, CHUNK);
        }
    }

    @Test
    void shouldCountLoadedRowsThenTablesAndNothingAfterClose() {
        GpuJoinEngine engine = engine();
        assertThat(engine.stats().tableBytes()).isZero();
        load(engine);
        long onTheirWay = engine.stats().tableBytes();
        engine.finishBuild();
        assertThat(engine.stats().tableBytes()).isPositive().isLessThan(onTheirWay);
        engine.close();
        assertThat(engine.stats().tableBytes()).isZero();
    }

    @Test
    void shouldReportItsStatsToAnyThreadAtAnyTime() throws Exception {
        AtomicReference<GpuJoinEngine> current = new AtomicReference<>(engine());
        AtomicBoolean isOver = new AtomicBoolean();
        ExecutorService reporter = Executors.newSingleThreadExecutor();
        try {
            CompletableFuture<Void> reports =
                    CompletableFuture.runAsync(
                            () -> {
                                while (!isOver.get()) {
                                    assertThat(current.get().stats().tableBytes()).isNotNegative();
                                }
                            },
                            reporter);
            for (int i = 0; i < 200 && !reports.isDone(); i++) {
                GpuJoinEngine engine = current.get();
                load(engine);
                engine.finishBuild();
                engine.close();
                current.set(engine());
            }
            isOver.set(true);
            reports.get(1, TimeUnit.MINUTES);
        } finally {
            isOver.set(true);
            current.get().close();
            reporter.shutdown();
        }
    }
}
