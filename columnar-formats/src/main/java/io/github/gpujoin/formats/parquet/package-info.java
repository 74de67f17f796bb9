// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Parquet files as chunks. The project's own code decodes pages of whole values and of dictionary
 * codes straight to columns; metadata, pages and all other encodings are read by parquet-java.
 */
@NullMarked
package io.github.gpujoin.formats.parquet;

import org.jspecify.annotations.NullMarked;
