// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.engine.EngineStatus;
import java.util.List;
import org.apache.flink.api.common.TaskInfoImpl;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RunReportTest {

    private static final ChunkSchema SCHEMA = ChunkSchema.of(Column.of("id", ColumnType.INT64));

    private static final JoinExplanation PLAN =
            JoinExplanation.planned(
                    "sales",
                    "shm",
                    ReasonCode.NOT_ENABLED,
                    List.of(
                            dimension("day", Distribution.REPLICATED, ReasonCode.WITHIN_LIMIT),
                            dimension("order", Distribution.PARTITIONED, ReasonCode.OVER_LIMIT)),
                    2.5);

    /** What stands where is said by its engine, as a subtask's does. */
    private record Engine(String engineName, ReasonCode reason, List<PartitionClass> divided)
            implements EngineStatus {

        @Override
        public List<PartitionClass> partitionClasses() {
            return divided;
        }

        @Override
        public @Nullable JoinEngine current() {
            return null;
        }
    }

    private static DimensionExplanation dimension(
            String name, Distribution distribution, ReasonCode why) {
        return DimensionExplanation.planned(
                name, "INNER", distribution, why, ReasonCode.FILTERS, 1 << 20);
    }

    private static Chunk chunk(int dimension, int partition, int rows) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, 1 << 16);
        for (int i = 0; i < rows; i++) {
            builder.putLong(0, i);
            builder.endRow();
        }
        return builder.seal(dimension, partition, 0, 0);
    }

    private static String report(Engine engine) {
        BuildCounts counts = new BuildCounts(2, 16);
        counts.add(chunk(0, ChunkDescriptor.UNPARTITIONED, 7));
        counts.add(chunk(1, 3, 100));
        counts.add(chunk(1, 9, 500));
        counts.add(chunk(1, 11, 200));
        return RunReport.of(PLAN, new TaskInfoImpl("join", 16, 1, 4, 0), engine, counts).toString();
    }

    @Test
    void shouldSayWhereThePartitionsOfADimensionStandAndWhy() {
        Engine engine =
                new Engine(
                        "gpu+cpu",
                        ReasonCode.PREFERRED,
                        List.of(
                                new PartitionClass(3, "gpu", ReasonCode.PREFERRED, 5 << 20),
                                new PartitionClass(1, "cpu", ReasonCode.OVER_DEVICE_BUDGET, 1200)));
        assertThat(report(engine).lines().map(String::strip))
                .containsExactly(
                        "Star join sales, as it runs in subtask 2/4: transport=shm, unaligned"
                                + " checkpoints=no (NOT_ENABLED), chunks of a key group"
                                + " (FEW_KEY_GROUPS)",
                        "dimension  kind   distribution  why           partitions  engine   why "
                                + "                rows  bytes",
                        "day        INNER  REPLICATED    WITHIN_LIMIT  all         gpu+cpu"
                                + "  PREFERRED           7     56 B",
                        "order      INNER  PARTITIONED   OVER_LIMIT    3           gpu     "
                                + " PREFERRED           800   5.0 MiB",
                        "1           cpu      OVER_DEVICE_BUDGET        1.2 KiB",
                        "filters of facts: day (FILTERS), order (FILTERS)",
                        "partitions with rows=3, median=200 rows, largest=500 rows (partition 9)",
                        "weight on the bus of a GPU: 2.5",
                        "WITHIN_LIMIT: " + ReasonCode.WITHIN_LIMIT.sentence(),
                        "OVER_LIMIT: " + ReasonCode.OVER_LIMIT.sentence(),
                        "PREFERRED: " + ReasonCode.PREFERRED.sentence(),
                        "OVER_DEVICE_BUDGET: " + ReasonCode.OVER_DEVICE_BUDGET.sentence(),
                        "FILTERS: " + ReasonCode.FILTERS.sentence(),
                        "FEW_KEY_GROUPS: " + ReasonCode.FEW_KEY_GROUPS.sentence(),
                        "NOT_ENABLED: " + ReasonCode.NOT_ENABLED.sentence());
    }

    @Test
    void shouldSayHowTablesAreSpreadOverDevices() {
        Engine engine =
                new Engine(
                        "gpu+cpu",
                        ReasonCode.PREFERRED,
                        List.of(
                                placed(2, "0"),
                                placed(1, "1"),
                                new PartitionClass(1, "cpu", ReasonCode.OVER_DEVICE_BUDGET, 9)));
        assertThat(report(engine).lines().map(line -> line.strip().replaceAll(" +", " ")))
                .contains(
                        "dimension kind distribution why partitions engine why rows bytes spread",
                        "day INNER REPLICATED WITHIN_LIMIT all gpu+cpu PREFERRED 7 56 B -",
                        "order INNER PARTITIONED OVER_LIMIT 2 gpu PREFERRED 800 9 B PLACED on 0",
                        "1 gpu PREFERRED 9 B PLACED on 1",
                        "1 cpu OVER_DEVICE_BUDGET 9 B -",
                        "PLACED: " + DeviceSpread.PLACED.sentence());
    }

    private static PartitionClass placed(int partitions, String device) {
        return new PartitionClass(
                partitions, "gpu", ReasonCode.PREFERRED, 9, DeviceSpread.PLACED, List.of(device));
    }

    @Test
    void shouldSayHowMuchLongerFactsTakeWhereRowsAreJoinedFromState() {
        Engine engine =
                new Engine(
                        "cpu",
                        ReasonCode.ASKED,
                        List.of(
                                new PartitionClass(3, "cpu", ReasonCode.ASKED, 6000),
                                new PartitionClass(1, "cpu", ReasonCode.OVER_HOST_BUDGET, 2000)));
        assertThat(report(engine))
                .containsPattern(
                        "\n  order: 25 % of the rows are joined from state; facts are expected to"
                                + " take [1-9][.][0-9] times as long as with memory for all of them");
    }

    @Test
    void shouldSayWhyTheCpuJoinsWhereOneEngineJoinsAll() {
        assertThat(report(new Engine("cpu", ReasonCode.NO_DRIVER, List.of())))
                .contains("all         cpu     NO_DRIVER  800   6.3 KiB", "NO_DRIVER: the CUDA")
                .doesNotContain("weight");
    }
}
