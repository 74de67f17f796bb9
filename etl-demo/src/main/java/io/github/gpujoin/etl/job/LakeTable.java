// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.job;

import org.apache.flink.table.api.TableEnvironment;

/** The lake table of results: Iceberg, with a catalog that is a folder. */
public final class LakeTable {

    /** Its name in SQL. */
    public static final String NAME = "lake.shop.enriched_orders";

    private LakeTable() {}

    /** Returns the folder of the table. */
    public static String location(String warehouse) {
        return warehouse + "/shop/enriched_orders";
    }

    /**
     * Makes the catalog known, and creates the table if it is missing.
     *
     * @param warehouse folder of the catalog, as a URI
     */
    public static void create(TableEnvironment tables, String warehouse) {
        tables.executeSql(
                ("CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop',"
                                + " 'warehouse' = '%s')")
                        .formatted(warehouse.replace("'", "''")));
        tables.executeSql("CREATE DATABASE IF NOT EXISTS lake.shop");
        tables.executeSql(
                "CREATE TABLE IF NOT EXISTS %s (%s)".formatted(NAME, EtlPipeline.RESULT_COLUMNS));
    }
}
