// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads delimited text, {@code .tbl} and CSV, as chunks. Start at {@code TextFormat}; {@code
 * LineScanner} finds the fields of some lines, {@code LineDecoder} then decodes them column by
 * column.
 */
@NullMarked
package io.github.gpujoin.formats.text;

import org.jspecify.annotations.NullMarked;
