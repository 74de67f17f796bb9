// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.github.gpujoin.benchmarks.sql.SqlAnswers;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import io.github.gpujoin.benchmarks.sql.SqlPlanner;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.examples.run.JobCluster;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.beam.sdk.nexmark.model.Auction;
import org.apache.beam.sdk.nexmark.model.Bid;
import org.apache.beam.sdk.nexmark.model.Event;
import org.apache.beam.sdk.nexmark.model.Person;
import org.apache.beam.sdk.nexmark.sources.generator.Generator;
import org.apache.flink.configuration.Configuration;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.joda.time.Instant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares results of all planners with DuckDB's, over the events as Beam's generator has them. */
class NexmarkQueryITCase {

    /** Twelve seconds of event time: two windows. */
    private static final int EVENTS = 120_000;

    private static final int THREADS = 2;

    private static JobCluster cluster;
    private static DuckDBConnection duckDb;
    private static List<EventLog> logs;

    @BeforeAll
    static void open() throws Exception {
        cluster = JobCluster.open(THREADS, new Configuration());
        logs = NexmarkEvents.logs(EVENTS, THREADS);
        duckDb = (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:");
        try (var statement = duckDb.createStatement()) {
            statement.execute(
                    "CREATE TABLE person (id BIGINT, name VARCHAR, emailAddress VARCHAR, creditCard"
                            + " VARCHAR, city VARCHAR, state VARCHAR, customTime TIMESTAMP, extra"
                            + " VARCHAR)");
            statement.execute(
                    "CREATE TABLE auction (id BIGINT, itemName VARCHAR, description VARCHAR,"
                            + " initialBid BIGINT, reserve BIGINT, customTime TIMESTAMP, expires"
                            + " TIMESTAMP, seller BIGINT, category BIGINT, extra VARCHAR)");
            statement.execute(
                    "CREATE TABLE bid (auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR,"
                            + " url VARCHAR, customTime TIMESTAMP, extra VARCHAR)");
            statement.execute(
                    "CREATE TABLE side_input AS"
                            + " SELECT range AS key, CAST(range AS VARCHAR) AS \"value\" FROM range(10000)");
        }
        try (DuckDBAppender persons = duckDb.createAppender("main", "person");
                DuckDBAppender auctions = duckDb.createAppender("main", "auction");
                DuckDBAppender bids = duckDb.createAppender("main", "bid")) {
            Generator generator = NexmarkEvents.generator(EVENTS);
            for (long number = 0; generator.hasNext(); number++) {
                Event event = generator.next().getValue();
                if (event.newPerson != null) {
                    append(persons, event.newPerson);
                } else if (event.newAuction != null) {
                    append(auctions, event.newAuction);
                } else {
                    append(bids, event.bid, BidChannels.of(number));
                }
            }
        }
    }

    private static void append(DuckDBAppender table, Person person) throws SQLException {
        table.beginRow()
                .append(person.id)
                .append(person.name)
                .append(person.emailAddress)
                .append(person.creditCard)
                .append(person.city)
                .append(person.state)
                .append(time(person.dateTime))
                .append(person.extra)
                .endRow();
    }

    private static void append(DuckDBAppender table, Auction auction) throws SQLException {
        table.beginRow()
                .append(auction.id)
                .append(auction.itemName)
                .append(auction.description)
                .append(auction.initialBid)
                .append(auction.reserve)
                .append(time(auction.dateTime))
                .append(time(auction.expires))
                .append(auction.seller)
                .append(auction.category)
                .append(auction.extra)
                .endRow();
    }

    private static void append(DuckDBAppender table, Bid bid, BidChannels.Channel channel)
            throws SQLException {
        table.beginRow()
                .append(bid.auction)
                .append(bid.bidder)
                .append(bid.price)
                .append(channel.name())
                .append(channel.url())
                .append(time(bid.dateTime))
                .append(bid.extra)
                .endRow();
    }

    private static LocalDateTime time(Instant time) {
        return LocalDateTime.ofEpochSecond(
                time.getMillis() / 1000,
                (int) (time.getMillis() % 1000) * 1_000_000,
                ZoneOffset.UTC);
    }

    @AfterAll
    static void close() throws Exception {
        duckDb.close();
        cluster.close();
    }

    /** Returns the query in DuckDB's SQL, where Flink's is another. */
    private static String duckDbSql(NexmarkQuery query, SqlJob job) {
        return switch (query) {
            // Flink's average of integers is an integer.
            case Q4 -> job.sql().replace("AVG(final)", "SUM(final) // COUNT(*)");
            case Q8 ->
                    """
                    SELECT id, name, starttime
                    FROM (
                        SELECT DISTINCT id, name,
                            time_bucket(INTERVAL 10 SECOND, customTime) AS starttime
                        FROM person)
                    JOIN (
                        SELECT DISTINCT seller,
                            time_bucket(INTERVAL 10 SECOND, customTime) AS sold
                        FROM auction)
                    ON id = seller AND starttime = sold
                    """;
            case Q13 ->
                    """
                    SELECT auction, bidder, price, customTime, "value"
                    FROM bid JOIN side_input ON auction % 10000 = key
                    """;
            default -> job.sql();
        };
    }

    @ParameterizedTest
    @EnumSource(NexmarkQuery.class)
    void shouldAnswerAsDuckDbDoes(NexmarkQuery query) throws Exception {
        SqlJob job = query.job(logs);
        List<String> expected = SqlAnswers.ofDuckDb(duckDb, duckDbSql(query, job));
        assertThat(expected).isNotEmpty();
        JoinAnswer sum = SqlAnswers.ofSink(job, SqlPlanner.FLINK, cluster);
        assertThat(sum.count()).isEqualTo(expected.size());
        for (SqlPlanner planner : SqlPlanner.values()) {
            assertThat(SqlAnswers.ofFlink(job, planner, cluster))
                    .as(planner.label())
                    .isEqualTo(expected);
            assertThat(SqlAnswers.ofSink(job, planner, cluster)).as(planner.label()).isEqualTo(sum);
        }
    }
}
