// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.TableJoinScenario.streams;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.TableJoinScenario.KeyType;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.api.Test;

/** Tables and columns that a table join refuses, with the message that says why. */
class TableJoinRefusalTest {

    @Test
    void shouldRefuseBuildTableThatNeverEnds() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.INT, 1);
        tables.executeSql("CREATE TEMPORARY TABLE endless (id INT) WITH ('connector'='datagen')");
        TableJoin join =
                TableJoin.in(tables)
                        .build(tables.from("endless"))
                        .probe(tables.from("p"))
                        .on("pk", "id");
        assertThatThrownBy(join::toTable)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Dimension 'build' is never complete")
                .hasMessageEndingWith("Use a bounded table, or .buildChangelog(table).");
    }

    @Test
    void shouldRefuseChangesOfAJoinThatWasBuilt() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.INT, 1);
        TableJoin join =
                TableJoin.in(tables)
                        .build(tables.from("b"))
                        .probe(tables.from("p"))
                        .on("pk", "bk")
                        .uid("built");
        join.toTable();

        assertThatThrownBy(join::left)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Join 'built' was changed after it was built, by .left(...). Call .left(...)"
                                + " before the method that returns the results.");
        assertThatThrownBy(() -> join.on("pk", "bk")).hasMessageContaining(".on(...)");
        assertThatThrownBy(join::partitioned).hasMessageContaining(".partitioned(...)");
    }

    @Test
    void shouldRefuseUnsupportedChangelogs() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.STRING, 1);
        Table counts = tables.sqlQuery("SELECT bk, COUNT(*) AS c FROM b GROUP BY bk");
        Table keyed =
                tables.fromChangelogStream(
                        tables.toChangelogStream(counts),
                        Schema.newBuilder()
                                .column("bk", DataTypes.INT().notNull())
                                .column("c", DataTypes.BIGINT())
                                .primaryKey("bk")
                                .build());
        Table probe = tables.from("p");
        TableJoin.Tables in = TableJoin.in(tables);

        assertThatThrownBy(() -> in.buildChangelog(counts).probe(counts))
                .hasMessage(
                        "Rows of the probe table are updated or deleted. Make it the build table, by"
                                + " .buildChangelog(table), or join it in SQL.");
        assertThatThrownBy(
                        () ->
                                in.buildChangelog(counts)
                                        .probe(probe)
                                        .on("pk", "bk")
                                        .full()
                                        .toTable())
                .hasMessageStartingWith("A FULL join needs a build table that does not change");
        assertThatThrownBy(
                        () ->
                                in.buildChangelog(counts)
                                        .probe(probe)
                                        .on("pk", "bk")
                                        .nullSafe()
                                        .toTable())
                .hasMessageContaining("column=bk, type=INT");
        assertThatThrownBy(() -> in.buildChangelog(keyed).probe(probe).on("pn", "c").toTable())
                .hasMessageContaining("primaryKey=[bk], key=[c]");
        assertThatThrownBy(
                        () ->
                                in.build(probe)
                                        .probe(probe)
                                        .on("pk", "pk")
                                        .completeAtWatermark(1)
                                        .toTable())
                .hasMessageContaining("watermark=1");
    }

    @Test
    void shouldRefuseChangingTablesAndMissingColumns() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.INT, 1);
        Table counts = tables.sqlQuery("SELECT bk, COUNT(*) AS c FROM b GROUP BY bk");
        Table probe = tables.from("p");

        assertThatThrownBy(() -> TableJoin.in(tables).build(counts))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Rows of the build table are updated or deleted. Use .buildChangelog(table).");
        TableJoin join = TableJoin.in(tables).build(probe).probe(probe);
        assertThatThrownBy(() -> join.on("pk", "missing"))
                .hasMessage(
                        "The build table has no column 'missing'. Its columns are [pk, pl, pn].");
        assertThatThrownBy(join::toTable).hasMessageStartingWith("No key columns");
        TableJoin other = TableJoin.in(tables).build(tables.from("b")).probe(probe);
        assertThatThrownBy(() -> other.on("bk", "pk"))
                .hasMessage(
                        "The probe table has no column 'bk'. The build table has one: the order is"
                                + " .on(probeColumn, buildColumn).");
    }
}
