// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

/**
 * Where the selected columns are in a file.
 *
 * @param fieldCount of a line
 * @param linesStart offset of the first line in the file, behind the header
 * @param fields number of the field of each selected column, from 0
 */
record FieldMap(int fieldCount, int linesStart, int[] fields) {}
