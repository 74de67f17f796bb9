// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import org.jspecify.annotations.Nullable;

/**
 * Finds the fields of some lines: the first of two passes, which reads each byte once, eight at a
 * time, and stores the offsets of delimiters. The second pass decodes columns from these while the
 * bytes are in the processor's cache. Used by one thread at a time.
 */
final class LineScanner {

    /** Lines of one scan; few, so that their bytes and offsets stay in the first-level cache. */
    static final int MAX_LINES = 256;

    private static final int UNCONDITIONAL_STORES = 12;

    private static final long LINE_FEEDS = Swar.repeat((byte) '\n');
    private static final long QUOTES = Swar.repeat(TextSyntax.QUOTE);

    private final int fieldCount;
    private final TextSyntax syntax;
    private final boolean skipsEmptyLines;
    private final long delimiters;

    /** Offset of the byte before the first line, then of each delimiter and line feed. */
    private final int[] marks;

    /** For each line, index in {@link #marks} of the line feed before it. */
    private final int[] firsts = new int[MAX_LINES];

    private byte[] bytes = new byte[0];
    private int lines;
    private int next;
    private @Nullable String problem;

    LineScanner(int fieldCount, TextSyntax syntax) {
        this.fieldCount = fieldCount;
        this.syntax = syntax;
        this.skipsEmptyLines = syntax.isCsv() && fieldCount > 1;
        this.delimiters = Swar.repeat((byte) syntax.delimiter());
        this.marks = new int[MAX_LINES * (fieldCount + 2) + 4 * Long.SIZE];
    }

    /**
     * Finds up to {@link #MAX_LINES} lines: fewer if many empty lines are between them, perhaps
     * none. If {@link #next} then is not behind {@code from}, the first line has no end before
     * {@code to}.
     *
     * @param bytes with {@link TextBlock#PADDING_BYTES} after {@code to}
     * @param from of the first line
     * @param to after the last byte; a line that has no end before it is left out
     * @param limit offset from which on no line may start
     */
    void scan(byte[] bytes, int from, int to, int limit) {
        this.bytes = bytes;
        lines = 0;
        next = from;
        problem = null;
        firsts[0] = 0;
        marks[0] = from - 1;
        int count = 1;
        long open = 0;
        for (int at = from; at < to; at += Long.SIZE) {
            long breaks = Swar.equal(bytes, at, LINE_FEEDS);
            long ends = Swar.equal(bytes, at, delimiters);
            long quoted = 0;
            if (syntax.isCsv()) {
                quoted = Swar.between(Swar.equal(bytes, at, QUOTES)) ^ open;
                open = quoted >> Long.SIZE - 1;
                ends &= ~quoted;
                if (syntax.lineBreaks()) {
                    breaks &= ~quoted;
                }
            }
            long all = breaks | ends;
            if (to - at < Long.SIZE) {
                all &= (1L << to - at) - 1;
                breaks &= all;
            }
            if (count > marks.length - 2 * Long.SIZE) {
                if (firsts[lines] > marks.length - 2 * Long.SIZE - fieldCount - 2) {
                    // Skipped empty lines have marks, too. The caller scans on from the open line.
                    return;
                }
                // Only a line with more fields than any good one has offsets that do not fit.
                count = Math.min(count, firsts[lines] + fieldCount + 2);
            }
            store(at, all, count);
            if (breaks != 0 && !endLines(breaks, all, quoted, count, limit)) {
                return;
            }
            count += Long.bitCount(all);
        }
    }

    /**
     * Stores the offsets of 64 bytes: some without a branch, since most have about as many. The
     * next ones overwrite those that are none.
     */
    private void store(int at, long all, int count) {
        long rest = all;
        int to = count;
        for (int i = 0; i < UNCONDITIONAL_STORES; i++, rest &= rest - 1) {
            marks[to++] = at + Long.numberOfTrailingZeros(rest);
        }
        for (; rest != 0; rest &= rest - 1) {
            marks[to++] = at + Long.numberOfTrailingZeros(rest);
        }
    }

    /** Ends lines at line feeds; returns false if no further line is wanted. */
    private boolean endLines(long breaks, long all, long quoted, int count, int limit) {
        for (long rest = breaks; rest != 0; rest &= rest - 1) {
            long lineFeed = rest & -rest;
            if ((quoted & lineFeed) != 0) {
                problem = "expected a closing quote before the end of the line";
                return false;
            }
            if (!endLine(count + Long.bitCount(all & lineFeed - 1), limit)) {
                return false;
            }
        }
        return true;
    }

    private boolean endLine(int last, int limit) {
        int first = firsts[lines];
        int found = last - first;
        if (found == fieldCount || found == fieldCount + 1 && hasDelimiterAtEnd(last)) {
            lines++;
        } else if (!skipsEmptyLines || found > 1 || textEnd(last) > marks[first] + 1) {
            problem =
                    found < fieldCount
                            ? "expected " + fieldCount + " columns, found " + found
                            : "expected the end of the line after " + fieldCount + " columns";
            return false;
        }
        next = marks[last] + 1;
        if (lines == MAX_LINES || next >= limit) {
            return false;
        }
        firsts[lines] = last;
        return true;
    }

    private boolean hasDelimiterAtEnd(int last) {
        return !syntax.isCsv() && textEnd(last) == marks[last - 1] + 1;
    }

    /** Returns where the text before a line feed ends: before a carriage return, if it has one. */
    private int textEnd(int mark) {
        int end = marks[mark];
        return end > marks[mark - 1] + 1 && bytes[end - 1] == '\r' ? end - 1 : end;
    }

    /** Returns the count of lines of the last scan. */
    int lines() {
        return lines;
    }

    /** Returns the offset after the last line. */
    int next() {
        return next;
    }

    /** Returns what is wrong with the line at {@link #next}, if something is known to be. */
    @Nullable String problem() {
        return problem;
    }

    int lineStart(int line) {
        return marks[firsts[line]] + 1;
    }

    int fieldStart(int line, int field) {
        return marks[firsts[line] + field] + 1;
    }

    int fieldEnd(int line, int field) {
        int mark = firsts[line] + field + 1;
        return field == fieldCount - 1 && bytes[marks[mark]] == '\n' ? textEnd(mark) : marks[mark];
    }
}
