// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes of a dimension that arrive while the device builds its tables. */
@ExtendWith(RegionLeakExtension.class)
class DeferredChangesTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));
    private static final ChunkSchema PRICES =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS, List.of(new DimensionSpec("prices", PRICES, 0, 0, JoinKind.INNER, 2)));
    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    @ParameterizedTest(name = "goodChanges={0}")
    @ValueSource(ints = {3, 2, 1, 0})
    void shouldApplyAllWhereverTheDeviceFails(int goodChanges) throws Exception {
        FullDevice device = new FullDevice(goodChanges);
        EngineSelection engines = new EngineSelection(context -> device, true, CPU);
        StarJoinOperatorFactory<String> operator =
                new StarJoinOperatorFactory<>(
                        JoinScenario.settings(SPEC, engines, 1_000, null, TimesToLive.NONE),
                        context -> new TextEmitter());
        try (JoinHarness join = new JoinHarness(operator, MAX_PARALLELISM, 1, 0)) {
            join.initializeEmptyState();
            join.open();
            join.leaveTablesToMails();
            upsert(join, 1, 10);
            join.endBuild();
            join.runMails(5);
            assertThat(join.isBuilding()).isTrue();
            upsert(join, 1, 11);
            upsert(join, 2, 20);
            upsert(join, 3, 30);
            device.mayComplete = true;
            for (long key = 1; key <= 3; key++) {
                probe(join, key);
            }
            join.runMails(Integer.MAX_VALUE);
            assertThat(join.results()).containsExactlyInAnyOrder("1|11", "2|20", "3|30");
        }
    }

    private static void upsert(JoinHarness join, long id, long value) throws Exception {
        ChunkBuilder builder = new ChunkBuilder(PRICES, 64);
        builder.putLong(0, id);
        builder.putLong(1, value);
        builder.putInt(2, RowChange.UPSERT.code());
        builder.endRow();
        join.build(builder.seal(0, partition(id), 0, 0));
    }

    private static void probe(JoinHarness join, long key) throws Exception {
        ChunkBuilder builder = new ChunkBuilder(FACTS, 64);
        builder.putLong(0, key);
        builder.putLong(1, key);
        builder.endRow();
        Chunk chunk = builder.seal(ChunkDescriptor.FACTS, partition(key), 0, 0);
        join.probe(chunk);
    }

    private static int partition(long key) {
        return KeyHash.partition(KeyHash.hash(key), MAX_PARALLELISM);
    }

    /** A device whose tables are complete on request, and that has room for some changes. */
    private static final class FullDevice implements JoinEngineFactory {

        private static final long serialVersionUID = 1L;

        private int changesLeft;
        private boolean mayComplete;

        FullDevice(int changes) {
            this.changesLeft = changes;
        }

        @Override
        public String engineName() {
            return "full";
        }

        @Override
        public JoinEngine create(JoinSpec spec) {
            JoinEngine engine = CPU.create(spec);
            return (JoinEngine)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {JoinEngine.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("buildStep") && !mayComplete) {
                                    return false;
                                }
                                if (method.getName().equals("submitBuild")
                                        && engine.state() == EngineState.JOINING
                                        && changesLeft-- <= 0) {
                                    throw new GpuUnavailableException(
                                            GpuFailure.OUT_OF_DEVICE_MEMORY, "no room");
                                }
                                try {
                                    return method.invoke(engine, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
        }
    }
}
