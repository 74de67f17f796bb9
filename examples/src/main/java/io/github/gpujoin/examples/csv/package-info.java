// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes CSV files with a header line, quotes of RFC 4180 and UTF-8. A malformed line is
 * an error, a skipped line or a line of a report, as the user chooses.
 */
package io.github.gpujoin.examples.csv;
