// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.tpch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.sql.SqlComparison;
import java.util.Random;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Queries of TPC-H with joins, whose results equal those of Flink's own joins. */
class TpchITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    /** 12 thousand line items. */
    private static final double SCALE_FACTOR = 0.002;

    private static final long SEED = 20261127;

    private static SqlComparison streaming;
    private static SqlComparison batch;

    /** Line items go on, all other tables are bounded. */
    private static SqlComparison star;

    @BeforeAll
    static void createTables() {
        streaming = new SqlComparison();
        star = new SqlComparison();
        batch =
                new SqlComparison()
                        .inBatchMode()
                        // Tables of this size would be broadcast, and their joins nested loops.
                        .set("table.optimizer.join.broadcast-threshold", "-1");
        for (TpchRows<?> table : TpchRows.all()) {
            String definition =
                    "CREATE TABLE %s (%s) WITH ('connector'='values', %s, 'data-id'='%s')";
            streaming.with(
                    definition.formatted(
                            table.name(),
                            table.schema(),
                            "'changelog-mode'='I,UB,UA,D'",
                            TestValuesTableFactory.registerData(
                                    table.changes(SCALE_FACTOR, new Random(SEED)))));
            String inserts = TestValuesTableFactory.registerData(table.inserts(SCALE_FACTOR));
            String bounded =
                    definition.formatted(table.name(), table.schema(), "'bounded'='true'", inserts);
            batch.with(bounded);
            star.with(
                    table.name().equals("lineitem")
                            ? bounded.replace("'bounded'='true'", "'bounded'='false'")
                            : bounded);
        }
    }

    @AfterAll
    static void clear() {
        TestValuesTableFactory.clearAllData();
    }

    @ParameterizedTest
    @EnumSource
    void shouldEqualFlinkOverChanges(TpchQuery query) throws Exception {
        assertThat(streaming.explain(query.sql())).contains("GpuJoin(");
        streaming.assertEqual(query.sql());
    }

    @ParameterizedTest
    @EnumSource(names = {"Q3", "Q9"})
    void shouldEqualFlinkOverBoundedDimensions(TpchQuery query) throws Exception {
        assertThat(star.explain(query.sql())).contains("GpuStarJoin(");
        star.assertEqual(query.sql());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "Q13")
    void shouldEqualFlinkInBatchMode(TpchQuery query) throws Exception {
        assertThat(batch.explain(query.sql())).contains("GpuJoin(");
        batch.assertEqual(query.sql());
    }

    @Test
    void shouldLeaveJoinThatDistributesRowsOfAnAggregateToFlink() throws Exception {
        assertThat(batch.explain(TpchQuery.Q13.sql())).contains("gpuJoin=[ORDER_OF_RESULTS: ");
        batch.assertEqual(TpchQuery.Q13.sql());
    }
}
