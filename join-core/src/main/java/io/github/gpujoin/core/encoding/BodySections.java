// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.align;

/**
 * Offsets of the sections of a column's body, from its start, as {@link EncodedColumnDescriptor}
 * draws them. An absent section is empty.
 *
 * @param firstRuns offset of each tile's first run
 * @param firstValues offset of each tile's first value
 * @param dictionary offset of the dictionary
 * @param runLengths offset of the lengths of runs
 * @param values offset of values or codes
 * @param endBytes length of the body
 */
record BodySections(
        long firstRuns,
        long firstValues,
        long dictionary,
        long runLengths,
        long values,
        long endBytes) {

    static BodySections of(
            EncodingPlan plan,
            int rowCount,
            int runCount,
            int widthBytes,
            int valueBits,
            int runBits,
            int dictionarySize) {
        long tiles = EncodedColumnDescriptor.tileCount(rowCount);
        long firstValues = plan.isRunLength() ? align(Integer.BYTES * (tiles + 1)) : 0;
        long dictionary =
                firstValues
                        + (plan.values() == ValueEncoding.DELTA ? align(Long.BYTES * tiles) : 0);
        long runLengths = dictionary + align((long) dictionarySize * widthBytes);
        long values = runLengths + BitPacking.sectionBytes(runCount, runBits);
        long count = plan.isRunLength() ? runCount : rowCount;
        long end =
                values
                        + (plan.values() == ValueEncoding.PLAIN
                                ? align(count * widthBytes)
                                : BitPacking.sectionBytes(count, valueBits));
        return new BodySections(0, firstValues, dictionary, runLengths, values, end);
    }
}
