// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.tpch;

import io.trino.tpch.Customer;
import io.trino.tpch.LineItem;
import io.trino.tpch.Nation;
import io.trino.tpch.Order;
import io.trino.tpch.Region;
import io.trino.tpch.Supplier;
import io.trino.tpch.TpchEntity;
import io.trino.tpch.TpchTable;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/**
 * A TPC-H table with the columns that {@link TpchStreamQuery} reads, and how its rows change. The
 * number of the table in the event logs is its ordinal.
 */
enum ChangingTable {
    REGION(TpchTable.REGION, 1, "r_regionkey BIGINT", "r_name STRING") {
        @Override
        GenericRowData row(TpchEntity entity) {
            Region region = (Region) entity;
            return GenericRowData.of(region.getRegionKey(), text(region.getName()));
        }
    },

    NATION(TpchTable.NATION, 1, "n_nationkey BIGINT", "n_name STRING", "n_regionkey BIGINT") {
        @Override
        GenericRowData row(TpchEntity entity) {
            Nation nation = (Nation) entity;
            return GenericRowData.of(
                    nation.getNationKey(), text(nation.getName()), nation.getRegionKey());
        }
    },

    SUPPLIER(TpchTable.SUPPLIER, 1, "s_suppkey BIGINT", "s_nationkey BIGINT") {
        @Override
        GenericRowData row(TpchEntity entity) {
            Supplier supplier = (Supplier) entity;
            return GenericRowData.of(supplier.getSupplierKey(), supplier.getNationKey());
        }

        /** Moves to another nation. */
        @Override
        void update(GenericRowData row, Random random) {
            row.setField(1, (row.getLong(1) + 1 + random.nextInt(NATIONS - 1)) % NATIONS);
        }
    },

    CUSTOMER(
            TpchTable.CUSTOMER,
            1,
            "c_custkey BIGINT",
            "c_name STRING",
            "c_address STRING",
            "c_nationkey BIGINT",
            "c_phone STRING",
            "c_acctbal DECIMAL(15, 2)",
            "c_mktsegment STRING",
            "c_comment STRING") {
        @Override
        GenericRowData row(TpchEntity entity) {
            Customer customer = (Customer) entity;
            return GenericRowData.of(
                    customer.getCustomerKey(),
                    text(customer.getName()),
                    text(customer.getAddress()),
                    customer.getNationKey(),
                    text(customer.getPhone()),
                    hundredths(customer.getAccountBalanceInCents()),
                    text(customer.getMarketSegment()),
                    text(customer.getComment()));
        }

        /** Has another balance, and moves to a segment that may be the same. */
        @Override
        void update(GenericRowData row, Random random) {
            row.setField(5, hundredths(random.nextInt(MAX_BALANCE_CENTS)));
            row.setField(6, text(SEGMENTS.get(random.nextInt(SEGMENTS.size()))));
        }
    },

    ORDERS(
            TpchTable.ORDERS,
            1,
            "o_orderkey BIGINT",
            "o_custkey BIGINT",
            "o_orderdate DATE",
            "o_shippriority INT") {
        @Override
        GenericRowData row(TpchEntity entity) {
            Order order = (Order) entity;
            return GenericRowData.of(
                    order.getOrderKey(),
                    order.getCustomerKey(),
                    order.getOrderDate(),
                    order.getShipPriority());
        }

        /** Is dated up to 60 days later. */
        @Override
        void update(GenericRowData row, Random random) {
            row.setField(2, row.getInt(2) + 1 + random.nextInt(MAX_DAYS));
        }
    },

    LINEITEM(
            TpchTable.LINE_ITEM,
            2,
            "l_orderkey BIGINT",
            "l_linenumber INT",
            "l_suppkey BIGINT",
            "l_extendedprice DECIMAL(15, 2)",
            "l_discount DECIMAL(15, 2)",
            "l_shipdate DATE",
            "l_returnflag STRING") {
        @Override
        GenericRowData row(TpchEntity entity) {
            LineItem line = (LineItem) entity;
            return GenericRowData.of(
                    line.getOrderKey(),
                    line.getLineNumber(),
                    line.getSupplierKey(),
                    hundredths(line.getExtendedPriceInCents()),
                    hundredths(line.getDiscountPercent()),
                    line.getShipDate(),
                    text(line.getReturnFlag()));
        }

        /** Has another discount of 0 to 10 %. */
        @Override
        void update(GenericRowData row, Random random) {
            long discount = row.getDecimal(4, PRECISION, SCALE).toUnscaledLong();
            row.setField(4, hundredths((discount + 1 + random.nextInt(10)) % 11));
        }
    };

    private static final int NATIONS = 25;
    private static final int MAX_BALANCE_CENTS = 1_000_000;
    private static final int MAX_DAYS = 60;
    private static final int PRECISION = 15;
    private static final int SCALE = 2;
    private static final List<String> SEGMENTS =
            List.of("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD");

    private final TpchTable<? extends TpchEntity> generator;
    private final int keyColumns;
    private final List<String> columns;

    ChangingTable(TpchTable<? extends TpchEntity> generator, int keyColumns, String... columns) {
        this.generator = generator;
        this.keyColumns = keyColumns;
        this.columns = List.of(columns);
    }

    /** Returns the name in SQL. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns columns and primary key, as they stand in a table definition of Flink. */
    String schema() {
        String key =
                String.join(
                        ", ",
                        columns.subList(0, keyColumns).stream()
                                .map(column -> column.substring(0, column.indexOf(' ')))
                                .toList());
        return "%s, PRIMARY KEY (%s) NOT ENFORCED".formatted(String.join(", ", columns), key);
    }

    /** Returns the names and types of columns as they stand in a table definition. */
    List<String> columns() {
        return columns;
    }

    /** Returns the number of leading columns that are the primary key. */
    int keyColumns() {
        return keyColumns;
    }

    RowType type() {
        return RowType.of(
                columns.stream()
                        .map(column -> column.substring(column.indexOf(' ') + 1))
                        .map(ChangingTable::type)
                        .toArray(LogicalType[]::new));
    }

    private static LogicalType type(String name) {
        return switch (name) {
            case "BIGINT" -> new BigIntType();
            case "INT" -> new IntType();
            case "DATE" -> new DateType();
            case "STRING" -> new VarCharType(VarCharType.MAX_LENGTH);
            default -> new DecimalType(PRECISION, SCALE);
        };
    }

    /** Returns the rows that dbgen generates. */
    Iterable<? extends TpchEntity> rows(double scaleFactor) {
        return generator.createGenerator(scaleFactor, 1, 1);
    }

    abstract GenericRowData row(TpchEntity entity);

    /** Returns whether rows of this table change, which those of nations and regions do not. */
    boolean isUpdated() {
        return this != REGION && this != NATION;
    }

    /** Returns whether rows of this table are deleted: orders with their lines. */
    boolean isDeleted() {
        return this == ORDERS || this == LINEITEM;
    }

    /** Changes columns of a row that are not its primary key. */
    void update(GenericRowData row, Random random) {
        throw new UnsupportedOperationException("Rows do not change: table=" + label());
    }

    private static StringData text(String text) {
        return StringData.fromString(text);
    }

    private static DecimalData hundredths(long hundredths) {
        return DecimalData.fromUnscaledLong(hundredths, PRECISION, SCALE);
    }
}
