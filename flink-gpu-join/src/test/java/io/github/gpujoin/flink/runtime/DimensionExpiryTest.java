// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.gpujoin.core.engine.DimensionSpec;
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
import io.github.gpujoin.flink.engine.FailingEngines;
import io.github.gpujoin.flink.runtime.expiry.DimensionTtl;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.tasks.mailbox.Mail;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows with a time to live of a second, in a clock that the test sets. */
@ExtendWith(RegionLeakExtension.class)
class DimensionExpiryTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final long TTL_MS = 1_000;
    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));
    private static final ChunkSchema PRICES =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("value", ColumnType.INT64),
                    Column.of("time", ColumnType.INT64),
                    Column.of("change", ColumnType.INT32));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS, List.of(new DimensionSpec("prices", PRICES, 0, 0, JoinKind.INNER, 3)));

    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    private boolean partitioned;
    private JoinHarness opened;
    private long fact;

    private JoinHarness open(OperatorSubtaskState state, long now) throws Exception {
        return open(EngineSelection.only(CPU), state, now);
    }

    private JoinHarness open(EngineSelection engines, OperatorSubtaskState state, long now)
            throws Exception {
        return open(engines, List.of(new DimensionTtl(0, 2, TTL_MS, partitioned)), state, now);
    }

    private JoinHarness open(
            EngineSelection engines,
            List<DimensionTtl> dimensions,
            OperatorSubtaskState state,
            long now)
            throws Exception {
        StarJoinOperatorFactory<String> operator =
                new StarJoinOperatorFactory<>(
                        JoinScenario.settings(
                                SPEC, engines, 1_000, null, new TimesToLive(TTL_MS, dimensions)),
                        context -> new TextEmitter());
        JoinHarness join = new JoinHarness(operator, MAX_PARALLELISM, 1, 0);
        opened = join;
        join.setProcessingTime(now);
        if (state == null) {
            join.initializeEmptyState();
        } else {
            join.initializeState(state);
        }
        join.open();
        return join;
    }

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {true, false})
    void shouldTakeRowsAwayThatWereNotChangedForTheirTimeToLive(boolean partitioned)
            throws Exception {
        this.partitioned = partitioned;
        OperatorSubtaskState state;
        try (JoinHarness join = open(null, 10_000)) {
            join.completeBuild();
            change(join, 1, 10, RowChange.UPSERT);
            change(join, 2, 20, RowChange.UPSERT);
            advance(join, 10_600);
            change(join, 1, 11, RowChange.UPSERT);
            change(join, 3, 30, RowChange.UPSERT);
            advance(join, 10_900);
            assertThat(valuesOf(join, 1, 2, 3)).containsExactly("11", "20", "30");
            advance(join, 11_101);
            assertThat(valuesOf(join, 1, 2, 3)).containsExactly("11", "30");
            change(join, 3, 31, RowChange.UPSERT);
            state = join.snapshot(1, 1);
        }
        try (JoinHarness restored = open(state, 11_200)) {
            restored.completeBuild();
            advance(restored, 11_300);
            assertThat(valuesOf(restored, 1, 2, 3)).containsExactly("11", "31");
            advance(restored, 11_801);
            assertThat(valuesOf(restored, 1, 2, 3)).containsExactly("31");
            change(restored, 3, 0, RowChange.DELETE);
            change(restored, 2, 21, RowChange.UPSERT);
            advance(restored, 12_700);
            assertThat(valuesOf(restored, 1, 2, 3)).containsExactly("21");
            advance(restored, 13_900);
            assertThat(valuesOf(restored, 1, 2, 3)).isEmpty();
        }
    }

    /** A build that is completed in one mail would keep barriers from the task. */
    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {true, false})
    @Timeout(30)
    void shouldExpireNoRowBeforeTheTablesAreComplete(boolean partitioned) throws Exception {
        this.partitioned = partitioned;
        TableBuildTest.SlowToBuild slow = new TableBuildTest.SlowToBuild();
        try (JoinHarness join = open(EngineSelection.only(slow), null, 10_000)) {
            join.leaveTablesToMails();
            change(join, 1, 10, RowChange.UPSERT);
            join.endBuild();
            for (long now = 10_000; now <= 11_500; now += 50) {
                join.setProcessingTime(now);
                join.runMails(5);
            }
            assertThat(join.isBuilding()).isTrue();
            change(join, 2, 20, RowChange.UPSERT);
            slow.mayComplete = true;
            join.runMails(Integer.MAX_VALUE);
            advance(join, 11_700);
            assertThat(valuesOf(join, 1, 2)).containsExactly("20");
        }
    }

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {true, false})
    void shouldGiveResultsOfFactsInFrontWhereverTheEngineFails(boolean partitioned)
            throws Exception {
        this.partitioned = partitioned;
        FailingEngines failing;
        int goodCalls = 0;
        do {
            failing = new FailingEngines(goodCalls);
            ThrottledEngines throttle = new ThrottledEngines(failing, 0);
            EngineSelection engines = new EngineSelection(context -> throttle, true, CPU);
            try (JoinHarness join = open(engines, null, 10_000)) {
                join.runMails(Integer.MAX_VALUE);
                join.completeBuild();
                change(join, 1, 10, RowChange.UPSERT);
                change(join, 2, 20, RowChange.UPSERT);
                probe(join, 1, 2);
                // the facts' mail is first; it finds nothing joined, and goes behind the expiry's
                join.setProcessingTime(12_000);
                join.runMails(1);
                throttle.allow(Long.MAX_VALUE);
                join.runMails(Integer.MAX_VALUE);
                assertThat(values(join))
                        .as("goodCalls=%d", goodCalls)
                        .containsExactlyInAnyOrder("10", "20");
                assertThat(valuesOf(join, 1, 2)).as("goodCalls=%d", goodCalls).isEmpty();
            }
            goodCalls++;
        } while (failing.hasFailed());
        assertThat(goodCalls).isGreaterThan(8);
    }

    /** More rows than one chunk of deletions has. */
    @Test
    void shouldExpireManyRowsWhereverTheEngineFails() throws Exception {
        int rows = 20_000;
        FailingEngines failing;
        int goodCalls = 0;
        do {
            failing = new FailingEngines(goodCalls++);
            FailingEngines preferred = failing;
            EngineSelection engines = new EngineSelection(context -> preferred, true, CPU);
            fact = 0;
            try (JoinHarness join = open(engines, null, 10_000)) {
                join.runMails(Integer.MAX_VALUE);
                join.completeBuild();
                for (int first = 0; first < rows; first += 1_000) {
                    upserts(join, first, first + 1_000);
                }
                assertThat(valuesOf(join, 1, rows - 1)).containsExactly("10", "199990");
                advance(join, 12_000);
                assertThat(valuesOf(join, 1, rows - 1)).as("goodCalls=%d", goodCalls).isEmpty();
            }
        } while (failing.hasFailed());
        assertThat(goodCalls).isGreaterThan(25);
    }

    private static void upserts(JoinHarness join, int firstId, int endId) throws Exception {
        ChunkBuilder builder = new ChunkBuilder(PRICES, 64 << 10);
        for (int id = firstId; id < endId; id++) {
            builder.putLong(0, id);
            builder.putLong(1, 10L * id);
            builder.putLong(2, Long.MIN_VALUE);
            builder.putInt(3, RowChange.UPSERT.code());
            builder.endRow();
        }
        join.build(builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0));
    }

    @Test
    void shouldDropFactsThatWaitedLongerForTheDimensionsThanTheyLive() throws Exception {
        try (JoinHarness join = open(null, 10_000)) {
            assertThat(valuesOf(join, 1, 2)).isEmpty();
            join.probeWatermark(5);
            advance(join, 10_600);
            assertThat(valuesOf(join, 1, 3)).isEmpty();
            advance(join, 11_100);
            change(join, 1, 10, RowChange.UPSERT);
            change(join, 2, 20, RowChange.UPSERT);
            change(join, 3, 30, RowChange.UPSERT);
            join.completeBuild();
            assertThat(join.getOutput()).containsExactly(new Watermark(5));
            join.runMails(Integer.MAX_VALUE);
            assertThat(join.results()).containsExactly("2|10", "3|30");
            assertThat(valuesOf(join, 2)).containsExactly("20");
        }
    }

    @Test
    void shouldKeepNoMoreFactsThanComeInTheTimeThatTheyLive() throws Exception {
        try (JoinHarness join = open(null, 10_000)) {
            List<Long> stateBytes = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                join.setProcessingTime(10_000 + 100L * i);
                valuesOf(join, i);
                stateBytes.add(join.snapshot(i, i).getStateSize());
            }
            assertThat(stateBytes.get(10)).isGreaterThan(stateBytes.get(5));
            assertThat(stateBytes.get(99)).isCloseTo(stateBytes.get(20), withinPercentage(5));
        }
    }

    /** A snapshot in JOIN with a row of key 1, at 10 000 ms, and a fact that waits for it. */
    private OperatorSubtaskState withAFactInFlight(List<DimensionTtl> dimensions) throws Exception {
        EngineSelection engines = EngineSelection.only(new ThrottledEngines(CPU, 0));
        try (JoinHarness join = open(engines, dimensions, null, 10_000)) {
            join.completeBuild();
            change(join, 1, 10, RowChange.UPSERT);
            probe(join, 1);
            return join.snapshot(1, 1);
        }
    }

    @Test
    void shouldJoinFactsThatWaitedForNoDimensionHoweverLongARestoreTakes() throws Exception {
        OperatorSubtaskState state = withAFactInFlight(List.of());
        EngineSelection engines = EngineSelection.only(new SlowToBuild());
        try (JoinHarness restored = open(engines, List.of(), state, 10_500)) {
            assertThat(restored.getProcessingTime()).isEqualTo(10_500 + 2 * TTL_MS);
            restored.runMails(Integer.MAX_VALUE);
            assertThat(values(restored)).containsExactly("10");
        }
    }

    @ParameterizedTest(name = "partitioned={0}")
    @ValueSource(booleans = {true, false})
    void shouldNotJoinFactsThatWaitedWithRowsWhoseTimeWasOverBeforeARestore(boolean partitioned)
            throws Exception {
        this.partitioned = partitioned;
        List<DimensionTtl> ttls = List.of(new DimensionTtl(0, 2, TTL_MS, partitioned));
        OperatorSubtaskState state = withAFactInFlight(ttls);
        try (JoinHarness restored = open(state, 10_000 + 10 * TTL_MS)) {
            // a timer's mail may come after that of facts
            List<Mail> mails = restored.getTaskMailbox().drain();
            Collections.reverse(mails);
            for (Mail mail : mails) {
                mail.run();
            }
            restored.runMails(Integer.MAX_VALUE);
            assertThat(restored.results()).isEmpty();
        }
    }

    @Test
    void shouldRefuseATimeToLiveOfNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DimensionTtl(0, 2, 0, true))
                .withMessageContaining("ttlMs=0");
    }

    /** Engines whose tables take twice the time to live. */
    private final class SlowToBuild implements JoinEngineFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public String engineName() {
            return "slow to build";
        }

        @Override
        public JoinEngine create(JoinSpec spec) {
            JoinEngine engine = CPU.create(spec);
            AtomicBoolean begun = new AtomicBoolean();
            return (JoinEngine)
                    Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {JoinEngine.class},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("buildStep")
                                        && begun.compareAndSet(false, true)) {
                                    opened.setProcessingTime(
                                            opened.getProcessingTime() + 2 * TTL_MS);
                                }
                                return method.invoke(engine, arguments);
                            });
        }
    }

    /** Steps of the clock are smaller than the tenth of a second between two looks at the log. */
    private static void advance(JoinHarness join, long toMs) throws Exception {
        for (long now = join.getProcessingTime(); now < toMs; now = Math.min(toMs, now + 50)) {
            join.setProcessingTime(now);
            join.runMails(Integer.MAX_VALUE);
        }
        join.setProcessingTime(toMs);
        join.runMails(Integer.MAX_VALUE);
    }

    private void change(JoinHarness join, long id, long value, RowChange change) throws Exception {
        ChunkBuilder builder = new ChunkBuilder(PRICES, 64);
        builder.putLong(0, id);
        builder.putLong(1, value);
        builder.putLong(2, Long.MIN_VALUE);
        builder.putInt(3, change.code());
        builder.endRow();
        join.build(builder.seal(0, partition(id), 0, 0));
    }

    private List<String> valuesOf(JoinHarness join, long... keys) throws Exception {
        join.getOutput().clear();
        probe(join, keys);
        join.runMails(Integer.MAX_VALUE);
        return values(join);
    }

    private static List<String> values(JoinHarness join) {
        return join.results().stream().map(row -> row.substring(row.indexOf('|') + 1)).toList();
    }

    private void probe(JoinHarness join, long... keys) throws Exception {
        for (long key : keys) {
            ChunkBuilder builder = new ChunkBuilder(FACTS, 64);
            builder.putLong(0, key);
            builder.putLong(1, fact++);
            builder.endRow();
            Chunk chunk = builder.seal(ChunkDescriptor.FACTS, partition(key), 0, 0);
            join.probe(chunk);
        }
    }

    private int partition(long key) {
        return partitioned
                ? KeyHash.partition(KeyHash.hash(key), MAX_PARALLELISM)
                : ChunkDescriptor.UNPARTITIONED;
    }
}
