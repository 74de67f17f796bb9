// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins of batch mode, whose results equal those of Flink's own joins. */
class BatchJoinITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final long SEED = 20261127;

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static List<Row> rows(Random random) {
        List<Row> rows = new ArrayList<>();
        for (int id = 0; id < 200; id++) {
            int k = random.nextInt(40);
            rows.add(Row.of(id, k == 0 ? null : k, "name " + k % 7, random.nextInt(100)));
        }
        return rows;
    }

    private static SqlComparison comparison() {
        Random random = new Random(SEED);
        SqlComparison join =
                new SqlComparison()
                        .inBatchMode()
                        // Tables of this size would be broadcast, and their joins nested loops.
                        .set("table.optimizer.join.broadcast-threshold", "-1");
        for (String name : List.of("a", "b", "c")) {
            join.with(
                    "CREATE TABLE %s (id INT, k INT, name STRING, v INT) WITH ('connector'='values', 'bounded'='true', 'data-id'='%s')"
                            .formatted(name, TestValuesTableFactory.registerData(rows(random))));
        }
        return join;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a.id, a.v, b.id, b.name FROM a JOIN b ON a.k = b.k",
                "SELECT a.id, a.v, b.id, b.name FROM a LEFT JOIN b ON a.k = b.k",
                "SELECT a.id, a.v, b.id, b.name FROM a RIGHT JOIN b ON a.k = b.k",
                "SELECT a.id, a.v, b.id, b.name FROM a FULL JOIN b ON a.k = b.k",
                "SELECT * FROM a WHERE k IN (SELECT k FROM b WHERE v > 90)",
                "SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND b.v > 50)",
                "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k AND a.v < b.v",
                "SELECT a.id, b.id FROM a JOIN b ON a.name = b.name AND a.k = b.k",
                "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k IS NOT DISTINCT FROM b.k",
                "SELECT a.id, b.id, c.id FROM a JOIN b ON a.k = b.k JOIN c ON a.id = c.id",
                "SELECT a.k, COUNT(*), SUM(c.v) FROM a JOIN b ON a.k = b.k JOIN c ON b.id = c.id GROUP BY a.k",
                "SELECT id FROM (SELECT a.id FROM a JOIN b ON a.k = b.k) UNION ALL (SELECT c.id FROM c JOIN b ON c.k = b.k)"
            })
    void shouldJoinAsFlink(String query) throws Exception {
        SqlComparison join = comparison();
        assertThat(join.explain(query)).contains("GpuJoin(");
        join.assertEqual(query);
    }

    @Test
    void shouldLeaveConditionOfLeftJoinToFlink() throws Exception {
        SqlComparison join = comparison();
        String query = "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND a.v < b.v";
        assertThat(join.explain(query))
                .contains("gpuJoin=[CONDITION_IN_BATCH_MODE: ")
                .doesNotContain("GpuJoin(");
        join.assertEqual(query);
    }
}
