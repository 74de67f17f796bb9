// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import io.github.gpujoin.examples.tbl.TblTable;
import io.trino.tpch.Distributions;
import java.io.IOException;
import java.time.LocalDate;
import java.util.List;
import java.util.Random;

/**
 * Generator of the star schema benchmark's tables.
 *
 * <p>Follows the specification of O'Neil, O'Neil and Chen, which derives the tables from TPC-H:
 * cardinalities, value ranges and hierarchies are the specification's, so the filter factors of its
 * queries hold; word lists are TPC-H's. Every table has its own seed, so that a table can be made
 * anew alone. {@link Random} is used because its sequence is part of its contract.
 */
final class SsbGenerator implements TableGenerator {

    private static final long SEED = 19920101;

    private static final int CUSTOMERS = 30_000;
    private static final int SUPPLIERS = 2_000;
    private static final int PARTS = 200_000;
    private static final int ORDERS = 1_500_000;

    private static final String[][] NATIONS = {
        {"AFRICA", "ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"},
        {"AMERICA", "ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"},
        {"ASIA", "CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"},
        {"EUROPE", "FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"},
        {"MIDDLE EAST", "EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"}
    };

    private static final String ADDRESS_LETTERS =
            "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";

    private final double scaleFactor;
    private final Distributions words = Distributions.getDefaultDistributions();

    SsbGenerator(double scaleFactor) {
        this.scaleFactor = scaleFactor;
    }

    @Override
    public void write(TblTable table, TblWriter out) throws IOException {
        Random random = new Random(SEED + table.name().hashCode());
        switch (table.name()) {
            case "date" -> SsbCalendar.write(out);
            case "customer" -> writeCustomers(out, random);
            case "supplier" -> writeSuppliers(out, random);
            case "part" -> writeParts(out, random);
            case "lineorder" -> writeLineorders(out, random);
            default ->
                    throw new IllegalArgumentException(
                            "Table is not of the star schema benchmark: table=" + table.name());
        }
    }

    private int scaled(int rows) {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.round(rows * scaleFactor)));
    }

    private int parts() {
        if (scaleFactor < 1) {
            return scaled(PARTS);
        }
        return PARTS * (1 + (int) Math.floor(Math.log(scaleFactor) / Math.log(2) + 1e-9));
    }

    private void writeCustomers(TblWriter out, Random random) throws IOException {
        List<String> segments = words.getMarketSegments().getValues();
        for (int key = 1; key <= scaled(CUSTOMERS); key++) {
            out.field(key).field("Customer#%09d".formatted(key)).field(address(random));
            writePlaceAndPhone(out, random);
            out.field(pick(segments, random)).endLine();
        }
    }

    private void writeSuppliers(TblWriter out, Random random) throws IOException {
        for (int key = 1; key <= scaled(SUPPLIERS); key++) {
            out.field(key).field("Supplier#%09d".formatted(key)).field(address(random));
            writePlaceAndPhone(out, random);
            out.endLine();
        }
    }

    /** City, nation, region and phone number. A nation has ten cities. */
    private static void writePlaceAndPhone(TblWriter out, Random random) throws IOException {
        int region = random.nextInt(NATIONS.length);
        int nation = 1 + random.nextInt(NATIONS[region].length - 1);
        String name = NATIONS[region][nation];
        String prefix = "%-9.9s".formatted(name);
        out.field(prefix + random.nextInt(10)).field(name).field(NATIONS[region][0]);
        int country = 10 + 5 * region + nation - 1;
        out.field(
                country
                        + "-"
                        + (100 + random.nextInt(900))
                        + "-"
                        + (100 + random.nextInt(900))
                        + "-"
                        + (1000 + random.nextInt(9000)));
    }

    private static String address(Random random) {
        StringBuilder address = new StringBuilder();
        for (int length = 10 + random.nextInt(16); length > 0; length--) {
            address.append(ADDRESS_LETTERS.charAt(random.nextInt(ADDRESS_LETTERS.length())));
        }
        return address.toString();
    }

    private void writeParts(TblWriter out, Random random) throws IOException {
        List<String> colors = words.getPartColors().getValues();
        List<String> types = words.getPartTypes().getValues();
        List<String> containers = words.getPartContainers().getValues();
        for (int key = 1; key <= parts(); key++) {
            String manufacturer = "MFGR#" + (1 + random.nextInt(5));
            String category = manufacturer + (1 + random.nextInt(5));
            String brand = category + (1 + random.nextInt(40));
            out.field(key).field(pick(colors, random) + " " + pick(colors, random));
            out.field(manufacturer).field(category).field(brand);
            out.field(pick(colors, random)).field(pick(types, random));
            out.field(1 + random.nextInt(50)).field(pick(containers, random)).endLine();
        }
    }

    private void writeLineorders(TblWriter out, Random random) throws IOException {
        long orders = Math.max(1, Math.round(ORDERS * scaleFactor));
        LineorderRows rows = new LineorderRows(scaled(CUSTOMERS), parts(), scaled(SUPPLIERS));
        for (long order = 0; order < orders; order++) {
            rows.writeOrder(out, random, order);
        }
    }

    private static String pick(List<String> values, Random random) {
        return values.get(random.nextInt(values.size()));
    }

    /** The lines of one order after the other. */
    private final class LineorderRows {

        private static final int MOST_LINES = 7;

        private final int customers;
        private final int parts;
        private final int suppliers;
        private final List<String> priorities = words.getOrderPriorities().getValues();
        private final List<String> modes = words.getShipModes().getValues();
        private final int[] orderDates;
        private final long[] prices = new long[MOST_LINES];
        private final int[] discounts = new int[MOST_LINES];
        private final int[] taxes = new int[MOST_LINES];
        private final int[] partKeys = new int[MOST_LINES];
        private final int[] quantities = new int[MOST_LINES];

        LineorderRows(int customers, int parts, int suppliers) {
            this.customers = customers;
            this.parts = parts;
            this.suppliers = suppliers;
            LocalDate first = SsbCalendar.FIRST_DAY;
            this.orderDates =
                    first.datesUntil(LocalDate.of(1998, 10, 31).plusDays(1))
                            .mapToInt(SsbCalendar::key)
                            .toArray();
        }

        void writeOrder(TblWriter out, Random random, long order) throws IOException {
            int lines = 1 + random.nextInt(MOST_LINES);
            long total = drawPrices(random, lines);
            // Orders end 90 days before the last commit date: 1998-08-02, as in TPC-H.
            int orderDay = random.nextInt(orderDates.length - 90);
            int customer = customerWithOrders(random);
            String priority = pick(priorities, random);
            for (int line = 0; line < lines; line++) {
                out.field(sparse(order)).field(line + 1).field(customer).field(partKeys[line]);
                out.field(1 + random.nextInt(suppliers)).field(orderDates[orderDay]);
                out.field(priority).field(0).field(quantities[line]).field(prices[line]);
                out.field(total).field(discounts[line]);
                out.field(prices[line] * (100 - discounts[line]) / 100);
                out.field(6 * retailPrice(partKeys[line]) / 10).field(taxes[line]);
                out.field(orderDates[orderDay + 30 + random.nextInt(61)]);
                out.field(pick(modes, random)).endLine();
            }
        }

        private long drawPrices(Random random, int lines) {
            long total = 0;
            for (int line = 0; line < lines; line++) {
                partKeys[line] = 1 + random.nextInt(parts);
                quantities[line] = 1 + random.nextInt(50);
                discounts[line] = random.nextInt(11);
                taxes[line] = random.nextInt(9);
                prices[line] = quantities[line] * retailPrice(partKeys[line]);
                long reduced = prices[line] * (100 - discounts[line]) / 100;
                total += reduced * (100 + taxes[line]) / 100;
            }
            return total;
        }

        /** Every third customer has no orders. */
        private int customerWithOrders(Random random) {
            int customer;
            do {
                customer = 1 + random.nextInt(customers);
            } while (customer % 3 == 0);
            return customer;
        }

        /** The first eight of every 32 order keys are used. */
        private static long sparse(long order) {
            return (order / 8) * 32 + order % 8 + 1;
        }

        /** In cents; TPC-H section 4.2.3. */
        private static long retailPrice(long partKey) {
            return 90_000 + (partKey / 10) % 20_001 + 100 * (partKey % 1_000);
        }
    }
}
