// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.nexmark;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.github.gpujoin.benchmarks.sql.EventTable;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import java.util.List;
import java.util.Locale;
import org.apache.flink.table.api.TableEnvironment;

/**
 * Queries of the public Nexmark suite: those with a join, and the one that shows the rate of source
 * and sink alone. As in the suite, all are over one table of events, of which persons, auctions and
 * bids are views.
 */
public enum NexmarkQuery {
    /** All bids: the rate of source and sink. */
    Q0("SELECT auction, bidder, price, customTime, extra FROM bid"),

    /** Who sells in three states and in a category, and which auctions. */
    Q3(
            """
            SELECT P.name, P.city, P.state, A.id
            FROM auction AS A INNER JOIN person AS P ON A.seller = P.id
            WHERE A.category = 10 AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA')
            """),

    /** The average of the highest bids, for each category. */
    Q4(
            """
            SELECT category, AVG(final)
            FROM (
                SELECT MAX(B.price) AS final, A.category
                FROM auction A, bid B
                WHERE A.id = B.auction AND B.customTime BETWEEN A.customTime AND A.expires
                GROUP BY A.id, A.category)
            GROUP BY category
            """),

    /** Persons who opened an auction in the 10 seconds in which they arrived. */
    Q8(
            """
            SELECT P.id, P.name, P.starttime
            FROM (
                SELECT id, name, window_start AS starttime, window_end AS endtime
                FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(customTime), INTERVAL '10' SECOND))
                GROUP BY id, name, window_start, window_end) P
            JOIN (
                SELECT seller, window_start AS starttime, window_end AS endtime
                FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(customTime), INTERVAL '10' SECOND))
                GROUP BY seller, window_start, window_end) A
            ON P.id = A.seller AND P.starttime = A.starttime AND P.endtime = A.endtime
            """),

    /**
     * The highest bid of each auction. The suite orders equal bids by time. With that second key,
     * Flink 2.3.0 plans a Top-1 without retractions unless mini-batches are on, and its result
     * contains bids that were outbid.
     */
    Q9(
            """
            SELECT id, itemName, description, initialBid, reserve, auction_time, expires, seller,
                category, extra, auction, bidder, price, bid_time, bid_extra
            FROM (
                SELECT A.id, A.itemName, A.description, A.initialBid, A.reserve,
                    A.customTime AS auction_time, A.expires, A.seller, A.category, A.extra,
                    B.auction, B.bidder, B.price, B.customTime AS bid_time, B.extra AS bid_extra,
                    ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC) AS place
                FROM auction A, bid B
                WHERE A.id = B.auction AND B.customTime BETWEEN A.customTime AND A.expires)
            WHERE place <= 1
            """),

    /** Bids with a value of a bounded side input. */
    Q13(
            """
            SELECT B.auction, B.bidder, B.price, B.customTime, S.`value`
            FROM (SELECT *, PROCTIME() AS p_time FROM bid) B
            JOIN side_input FOR SYSTEM_TIME AS OF B.p_time AS S
            ON MOD(B.auction, 10000) = S.key
            """),

    /** Bids with their auctions, of one category. */
    Q20(
            """
            SELECT auction, bidder, price, channel, url, B.customTime, B.extra, itemName,
                description, initialBid, reserve, A.customTime AS auction_time, expires, seller,
                category, A.extra AS auction_extra
            FROM bid AS B INNER JOIN auction AS A ON B.auction = A.id
            WHERE A.category = 10
            """),

    /** Bids of persons who also sell, with the person and the auctions. */
    Q23(
            """
            SELECT bidder, price, channel, url, B.extra AS bid_extra, P.id AS person_id, name,
                emailAddress, creditCard, city, state, P.extra AS person_extra, itemName,
                description, initialBid, reserve, A.customTime AS auction_time, expires, seller,
                category, A.extra AS auction_extra
            FROM bid B
            JOIN person P ON P.id = B.bidder
            JOIN auction A ON A.seller = B.bidder
            """);

    private static final String EVENTS =
            """
            CREATE TABLE events (
                event_type INT,
                person ROW<id BIGINT, name STRING, emailAddress STRING, creditCard STRING,
                    city STRING, state STRING, at_time TIMESTAMP(3), extra STRING>,
                auction ROW<id BIGINT, itemName STRING, description STRING, initialBid BIGINT,
                    reserve BIGINT, at_time TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT,
                    category BIGINT, extra STRING>,
                bid ROW<auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
                    at_time TIMESTAMP(3), extra STRING>,
                customTime AS CASE
                    WHEN event_type = 0 THEN person.at_time
                    WHEN event_type = 1 THEN auction.at_time
                    ELSE bid.at_time END,
                WATERMARK FOR customTime AS customTime - INTERVAL '4' SECOND
            ) WITH %s""";

    private static final List<String> VIEWS =
            List.of(
                    """
                    CREATE VIEW person AS
                    SELECT person.id, person.name, person.emailAddress, person.creditCard,
                        person.city, person.state, customTime, person.extra
                    FROM events WHERE event_type = 0
                    """,
                    """
                    CREATE VIEW auction AS
                    SELECT auction.id, auction.itemName, auction.description, auction.initialBid,
                        auction.reserve, customTime, auction.expires, auction.seller,
                        auction.category, auction.extra
                    FROM events WHERE event_type = 1
                    """,
                    """
                    CREATE VIEW bid AS
                    SELECT bid.auction, bid.bidder, bid.price, bid.channel, bid.url, customTime,
                        bid.extra
                    FROM events WHERE event_type = 2
                    """,
                    "CREATE TABLE side_input (key BIGINT, `value` STRING) WITH ('connector' = '%s')"
                            .formatted(SideInput.CONNECTOR));

    private final String sql;

    NexmarkQuery(String sql) {
        this.sql = sql;
    }

    /** Returns the name in reports and in options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the job over events.
     *
     * @param logs as {@link NexmarkEvents#logs} returns them
     */
    public SqlJob job(List<EventLog> logs) {
        long events = logs.stream().mapToLong(EventLog::rowCount).sum();
        return new SqlJob(toString(), sql, NexmarkQuery::create, logs, events);
    }

    private static void create(TableEnvironment tables, int run) {
        tables.executeSql(EVENTS.formatted(EventTable.with(run, NexmarkEvents.TABLE)));
        VIEWS.forEach(tables::executeSql);
    }
}
