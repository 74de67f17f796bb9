// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.nexmark;

import io.github.gpujoin.benchmarks.sql.EventLog;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.beam.sdk.nexmark.NexmarkConfiguration;
import org.apache.beam.sdk.nexmark.model.Auction;
import org.apache.beam.sdk.nexmark.model.Bid;
import org.apache.beam.sdk.nexmark.model.Event;
import org.apache.beam.sdk.nexmark.model.Person;
import org.apache.beam.sdk.nexmark.sources.generator.Generator;
import org.apache.beam.sdk.nexmark.sources.generator.GeneratorConfig;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;
import org.joda.time.Instant;

/**
 * Events of an auction site by Apache Beam's generator with its default settings: of 50 events, 1
 * is a person, 3 are auctions and 46 are bids; 10,000 events a second of event time. An event is a
 * function of its number, so that two generators create the same events.
 *
 * <p>The public suite for Flink has two more columns of bids: {@link BidChannels}.
 */
public final class NexmarkEvents {

    /** Number of the only table in the logs. */
    static final int TABLE = 0;

    private static final LogicalType BIGINT = new BigIntType();
    private static final LogicalType TEXT = new VarCharType(VarCharType.MAX_LENGTH);
    private static final LogicalType TIME = new TimestampType(3);

    private static final RowType PERSON =
            RowType.of(BIGINT, TEXT, TEXT, TEXT, TEXT, TEXT, TIME, TEXT);
    private static final RowType AUCTION =
            RowType.of(BIGINT, TEXT, TEXT, BIGINT, BIGINT, TIME, TIME, BIGINT, BIGINT, TEXT);
    private static final RowType BID = RowType.of(BIGINT, BIGINT, BIGINT, TEXT, TEXT, TIME, TEXT);

    /** Beam's own base time: 15 July 2015, 0:00 UTC. */
    private static final long BASE_TIME_MS = 1_436_918_400_000L;

    private NexmarkEvents() {}

    /** Creates the generator of so many events. */
    static Generator generator(long events) {
        NexmarkConfiguration configuration = NexmarkConfiguration.DEFAULT.copy();
        // The time between events is that between the events of one generator.
        configuration.numEventGenerators = 1;
        return new Generator(new GeneratorConfig(configuration, BASE_TIME_MS, 0, events, 0));
    }

    /**
     * Generates events.
     *
     * @param subtasks each gets every n-th event
     */
    public static List<EventLog> logs(long events, int subtasks) {
        List<EventLog> logs = IntStream.range(0, subtasks).mapToObj(i -> new EventLog()).toList();
        RowDataSerializer serializer =
                new RowDataSerializer(RowType.of(new IntType(), PERSON, AUCTION, BID));
        Generator generator = generator(events);
        for (int subtask = 0; generator.hasNext(); subtask = (subtask + 1) % subtasks) {
            long number = generator.getNextEventId();
            GenericRowData row = row(generator.next().getValue(), number);
            logs.get(subtask).add(TABLE, serializer.toBinaryRow(row));
        }
        return logs;
    }

    private static GenericRowData row(Event event, long number) {
        if (event.newPerson != null) {
            return GenericRowData.of(0, row(event.newPerson), null, null);
        }
        if (event.newAuction != null) {
            return GenericRowData.of(1, null, row(event.newAuction), null);
        }
        return GenericRowData.of(2, null, null, row(event.bid, number));
    }

    private static GenericRowData row(Person person) {
        return GenericRowData.of(
                person.id,
                text(person.name),
                text(person.emailAddress),
                text(person.creditCard),
                text(person.city),
                text(person.state),
                time(person.dateTime),
                text(person.extra));
    }

    private static GenericRowData row(Auction auction) {
        return GenericRowData.of(
                auction.id,
                text(auction.itemName),
                text(auction.description),
                auction.initialBid,
                auction.reserve,
                time(auction.dateTime),
                time(auction.expires),
                auction.seller,
                auction.category,
                text(auction.extra));
    }

    private static GenericRowData row(Bid bid, long number) {
        BidChannels.Channel channel = BidChannels.of(number);
        return GenericRowData.of(
                bid.auction,
                bid.bidder,
                bid.price,
                text(channel.name()),
                text(channel.url()),
                time(bid.dateTime),
                text(bid.extra));
    }

    private static StringData text(String text) {
        return StringData.fromString(text);
    }

    private static TimestampData time(Instant time) {
        return TimestampData.fromEpochMillis(time.getMillis());
    }
}
