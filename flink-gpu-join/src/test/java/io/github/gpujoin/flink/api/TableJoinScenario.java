// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Random tables of two key columns, joins of them, and the SQL that must return the same rows. */
final class TableJoinScenario {

    /** Types of key columns, each with few values, so that many keys match. */
    enum KeyType {
        BOOLEAN(DataTypes.BOOLEAN()),
        INT(DataTypes.INT()),
        BIGINT(DataTypes.BIGINT()),
        DATE(DataTypes.DATE()),
        TIMESTAMP_3(DataTypes.TIMESTAMP(3)),
        TIMESTAMP_9(DataTypes.TIMESTAMP(9)),
        TIMESTAMP_LTZ(DataTypes.TIMESTAMP_LTZ(6)),
        DECIMAL_10(DataTypes.DECIMAL(10, 2)),
        DECIMAL_38(DataTypes.DECIMAL(38, 5)),
        STRING(DataTypes.STRING()),
        BYTES(DataTypes.BYTES()),
        DOUBLE(DataTypes.DOUBLE()),
        TINYINT(DataTypes.TINYINT()),
        SMALLINT(DataTypes.SMALLINT());

        final DataType type;

        KeyType(DataType type) {
            this.type = type;
        }

        Object value(int n) {
            return switch (this) {
                case BOOLEAN -> n % 2 == 0;
                case INT -> n - 5;
                case BIGINT -> (long) n << 40;
                case DATE -> LocalDate.of(1969, 12, 25).plusDays(n);
                case TIMESTAMP_3 -> LocalDateTime.of(1969, 12, 31, 23, 59, 59, n * 1_000_000);
                case TIMESTAMP_9 -> LocalDateTime.of(2024, 2, 29, 0, 0, 0, n);
                case TIMESTAMP_LTZ -> Instant.ofEpochSecond(n % 3, n * 1_000L);
                case DECIMAL_10 -> BigDecimal.valueOf(n, 2);
                case DECIMAL_38 -> new BigDecimal("9".repeat(33) + "." + (10_000 + n));
                case STRING -> "key ".repeat(n);
                case BYTES -> new byte[] {(byte) n, 0};
                case DOUBLE -> n / 8.0;
                case TINYINT -> (byte) (n - 6);
                case SMALLINT -> (short) (5_000 * n - 30_000);
            };
        }
    }

    private TableJoinScenario() {}

    static List<Row> rows(Random random, KeyType first, KeyType second, int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(Row.of(value(random, first, 12), value(random, second, 3), i));
        }
        return rows;
    }

    static Object value(Random random, KeyType type, int values) {
        return random.nextInt(8) == 0 ? null : type.value(random.nextInt(values));
    }

    static DataType type(String side, KeyType first, KeyType second) {
        return DataTypes.ROW(
                        DataTypes.FIELD(side + "k", first.type),
                        DataTypes.FIELD(side + "l", second.type),
                        DataTypes.FIELD(side + "n", DataTypes.INT()))
                .notNull();
    }

    static StreamTableEnvironment streams(KeyType first, KeyType second, long seed) {
        return streams(StreamExecutionEnvironment.getExecutionEnvironment(), first, second, seed);
    }

    static StreamTableEnvironment streams(
            StreamExecutionEnvironment env, KeyType first, KeyType second, long seed) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        Random random = new Random(seed);
        for (String side : List.of("b", "p")) {
            tables.createTemporaryView(
                    side,
                    env.fromData(
                            rows(random, first, second, 50),
                            ExternalTypeInfo.of(type(side, first, second))));
        }
        return tables;
    }

    static TableEnvironment batch(KeyType first, KeyType second, long seed) {
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        Random random = new Random(seed);
        for (String side : List.of("b", "p")) {
            List<Row> rows = rows(random, first, second, 50);
            tables.createTemporaryView(side, tables.fromValues(type(side, first, second), rows));
        }
        return tables;
    }

    static String sql(String kind, boolean composite, boolean nullSafe) {
        String equal = nullSafe ? "IS NOT DISTINCT FROM" : "=";
        String on = "pk " + equal + " bk" + (composite ? " AND pl " + equal + " bl" : "");
        return switch (kind) {
            case "semi" -> "SELECT DISTINCT pn FROM p JOIN b ON " + on;
            case "anti" -> "SELECT pn FROM p LEFT JOIN b ON " + on + " WHERE bn IS NULL";
            default -> "SELECT pn, bn FROM p " + kind + " JOIN b ON " + on;
        };
    }

    /** Joins and returns the numbers of the probe rows, with those of their build rows. */
    static List<String> numbers(StreamTableEnvironment tables, TableJoin join, String kind)
            throws Exception {
        switch (kind) {
            case "left" -> join.left();
            case "right" -> join.right();
            case "full" -> join.full();
            case "semi" -> join.semi();
            case "anti" -> join.anti();
            default -> {}
        }
        tables.createTemporaryView("joined", join.toTable());
        boolean pairs = !kind.equals("semi") && !kind.equals("anti");
        return texts(
                tables.sqlQuery(pairs ? "SELECT pn, bn FROM joined" : "SELECT pn FROM joined"));
    }

    static List<String> texts(Table table) throws Exception {
        List<String> texts = new ArrayList<>();
        try (CloseableIterator<Row> rows = table.execute().collect()) {
            rows.forEachRemaining(row -> texts.add(row.toString()));
        }
        return texts;
    }
}
