// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import io.github.gpujoin.core.layout.KeyHash;
import java.nio.charset.StandardCharsets;
import java.util.stream.LongStream;

/**
 * Rows by number. A fact has one match, or none if it names a buyer who is no customer; texts are
 * new objects in every row, as a deserializer makes them.
 */
final class RecordData {

    private static final String[] SEGMENTS = {
        "AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"
    };
    private static final int REGIONS = 100;
    private static final byte[] NAME = "customer-0000000".getBytes(StandardCharsets.ISO_8859_1);
    private static final byte[] REGION = "region-00".getBytes(StandardCharsets.ISO_8859_1);

    private RecordData() {}

    static Customer customer(long number) {
        return new Customer(
                number,
                text(REGION, number % REGIONS),
                text(NAME, number),
                SEGMENTS[(int) (number % SEGMENTS.length)],
                number % 50);
    }

    static Order order(long number, int customers) {
        long customer = customerOf(number, customers);
        return new Order(
                number, number % 1000, text(REGION, customer % REGIONS), text(NAME, customer));
    }

    static WideOrder wideOrder(long number, int customers) {
        return new WideOrder(number, customerOf(number, customers));
    }

    static Rate rate(long number) {
        return new Rate(number, number % 50);
    }

    static Sale sale(long number, int customers) {
        return new Sale(customerOf(number, customers), number);
    }

    /** Returns how many of the first facts name one of the first customers. */
    static long matches(long facts, int customers, int buyers) {
        return LongStream.range(0, facts).filter(n -> customerOf(n, buyers) < customers).count();
    }

    /** Number of the customer of an order, spread over all. */
    private static long customerOf(long order, int customers) {
        return KeyHash.slot(KeyHash.hash(order), customers);
    }

    /** The text with its last digits replaced by the number. */
    private static String text(byte[] zeros, long number) {
        byte[] text = zeros.clone();
        long rest = number;
        for (int i = text.length - 1; rest > 0; i--) {
            text[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    /** Stands for a result in a sum. */
    static long checksum(long id, double amount, String segment, double discount) {
        return id + (long) (amount * discount) + segment.length() * 31L + segment.charAt(0);
    }
}
