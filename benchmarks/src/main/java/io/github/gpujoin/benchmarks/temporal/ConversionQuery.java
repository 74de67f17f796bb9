// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.temporal;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.github.gpujoin.benchmarks.sql.EventTable;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import java.util.List;
import java.util.Locale;
import org.apache.flink.table.api.TableEnvironment;

/** Orders with the exchange rate of their time, by an event-time temporal join. */
public enum ConversionQuery {
    /** Orders whose currency has a rate. */
    INNER("JOIN"),

    /** All orders. */
    LEFT("LEFT JOIN");

    private static final String ORDERS =
            """
            CREATE TABLE orders (id BIGINT, currency BIGINT, price BIGINT, ts TIMESTAMP(3),
                WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH %s""";

    private static final String RATES =
            """
            CREATE TABLE rates (currency BIGINT, rate BIGINT, since TIMESTAMP(3),
                WATERMARK FOR since AS since - INTERVAL '1' SECOND,
                PRIMARY KEY (currency) NOT ENFORCED) WITH %s""";

    private static final String QUERY =
            """
            SELECT o.id, o.currency, o.price * r.rate, o.ts, r.since
            FROM orders AS o %s rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency
            """;

    private final String join;

    ConversionQuery(String join) {
        this.join = join;
    }

    /** Returns the name in reports and in options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the words of SQL that join the tables. */
    String join() {
        return join;
    }

    /**
     * Returns the job over events.
     *
     * @param logs as {@link ConversionEvents#logs} returns them
     */
    public SqlJob job(List<EventLog> logs) {
        long events = logs.stream().mapToLong(EventLog::rowCount).sum();
        return new SqlJob(toString(), QUERY.formatted(join), ConversionQuery::create, logs, events);
    }

    private static void create(TableEnvironment tables, int run) {
        tables.executeSql(ORDERS.formatted(EventTable.with(run, ConversionEvents.ORDERS)));
        tables.executeSql(RATES.formatted(EventTable.withUpserts(run, ConversionEvents.RATES)));
    }
}
