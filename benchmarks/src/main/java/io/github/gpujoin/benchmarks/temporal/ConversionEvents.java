// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.temporal;

import io.github.gpujoin.benchmarks.sql.EventLog;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.types.RowKind;

/**
 * Orders, and changes of exchange rates: of 11 events, one is a rate, of a random currency; 10,000
 * events a second of event time. Orders are out of order by up to half a second. No two rates have
 * the same time.
 *
 * @param count of events
 * @param currencies number of the keys of both tables
 * @param seed of currencies, prices and rates
 */
public record ConversionEvents(long count, int currencies, long seed) {

    /** Number of the table of orders in the logs. */
    static final int ORDERS = 0;

    /** Number of the table of rates in the logs. */
    static final int RATES = 1;

    private static final int EVENTS_OF_A_RATE = 11;
    private static final int EVENTS_PER_MS = 10;
    private static final int DISORDER_MS = 500;
    private static final int MAX_VALUE = 1000;

    /** 1 January 2026, 0:00 UTC. */
    private static final long BASE_TIME_MS = 1_767_225_600_000L;

    private static final LogicalType BIGINT = new BigIntType();
    private static final LogicalType TIME = new TimestampType(3);

    /** Passes all events in order, with the number of their table. */
    void forEach(ObjIntConsumer<GenericRowData> consumer) {
        SplittableRandom random = new SplittableRandom(seed);
        boolean[] isKnown = new boolean[currencies];
        for (long i = 0; i < count; i++) {
            long time = BASE_TIME_MS + DISORDER_MS + i / EVENTS_PER_MS;
            int currency = random.nextInt(currencies);
            long value = random.nextInt(1, MAX_VALUE);
            if (i % EVENTS_OF_A_RATE == 0) {
                RowKind kind = isKnown[currency] ? RowKind.UPDATE_AFTER : RowKind.INSERT;
                isKnown[currency] = true;
                consumer.accept(
                        GenericRowData.ofKind(kind, (long) currency, value, time(time)), RATES);
            } else {
                consumer.accept(
                        GenericRowData.of(
                                i,
                                (long) currency,
                                value,
                                time(time - random.nextInt(DISORDER_MS))),
                        ORDERS);
            }
        }
    }

    private static TimestampData time(long ms) {
        return TimestampData.fromEpochMillis(ms);
    }

    /**
     * Returns the events of each source subtask.
     *
     * @param subtasks each gets every n-th event
     */
    public List<EventLog> logs(int subtasks) {
        List<EventLog> logs = IntStream.range(0, subtasks).mapToObj(i -> new EventLog()).toList();
        List<RowDataSerializer> serializers =
                List.of(
                        new RowDataSerializer(RowType.of(BIGINT, BIGINT, BIGINT, TIME)),
                        new RowDataSerializer(RowType.of(BIGINT, BIGINT, TIME)));
        int[] subtask = {0};
        forEach(
                (row, table) -> {
                    logs.get(subtask[0]).add(table, serializers.get(table).toBinaryRow(row));
                    subtask[0] = (subtask[0] + 1) % subtasks;
                });
        return logs;
    }
}
