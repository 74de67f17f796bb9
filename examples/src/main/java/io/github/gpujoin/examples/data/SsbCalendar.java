// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import java.io.IOException;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.format.TextStyle;
import java.util.Locale;
import java.util.Set;

/**
 * The date table of the star schema benchmark: 2,556 days from 1992-01-01 on, the specification's
 * row count, which leaves out the last day of 1998.
 */
final class SsbCalendar {

    static final LocalDate FIRST_DAY = LocalDate.of(1992, 1, 1);
    static final int DAYS = 2_556;

    /** Ten days a year, as {@code 100 * month + day}. */
    private static final Set<Integer> HOLIDAYS =
            Set.of(101, 220, 420, 520, 720, 820, 920, 1020, 1120, 1224);

    private SsbCalendar() {}

    /** The date as the number {@code yyyymmdd}. */
    static int key(LocalDate day) {
        return 10_000 * day.getYear() + 100 * day.getMonthValue() + day.getDayOfMonth();
    }

    static void write(TblWriter out) throws IOException {
        for (int i = 0; i < DAYS; i++) {
            writeDay(out, FIRST_DAY.plusDays(i));
        }
    }

    private static void writeDay(TblWriter out, LocalDate day) throws IOException {
        String month = day.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
        int year = day.getYear();
        int dayOfMonth = day.getDayOfMonth();
        int dayOfYear = day.getDayOfYear();
        boolean weekend =
                day.getDayOfWeek() == DayOfWeek.SATURDAY || day.getDayOfWeek() == DayOfWeek.SUNDAY;
        out.field(key(day)).field(month + " " + dayOfMonth + ", " + year);
        out.field(day.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH));
        out.field(month).field(year).field(100L * year + day.getMonthValue());
        out.field(month.substring(0, 3) + year);
        // Weeks begin on Sunday; the first week of a year begins on its first day.
        out.field(1 + day.getDayOfWeek().getValue() % 7).field(dayOfMonth).field(dayOfYear);
        out.field(day.getMonthValue()).field(1 + (dayOfYear - 1) / 7).field(season(day));
        out.field(flag(day.getDayOfWeek() == DayOfWeek.SATURDAY));
        out.field(flag(dayOfMonth == day.lengthOfMonth()));
        out.field(flag(HOLIDAYS.contains(100 * day.getMonthValue() + dayOfMonth)));
        out.field(flag(!weekend)).endLine();
    }

    private static String season(LocalDate day) {
        return switch (day.getMonthValue()) {
            case 11, 12 -> "Christmas";
            case 5, 6, 7, 8 -> "Summer";
            case 4 -> "Spring";
            case 9, 10 -> "Fall";
            default -> "Winter";
        };
    }

    private static long flag(boolean set) {
        return set ? 1 : 0;
    }
}
