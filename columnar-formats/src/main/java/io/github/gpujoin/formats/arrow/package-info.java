// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads Arrow IPC files and streams as chunks. Apache Arrow's library reads record batches; vectors
 * are copied column by column.
 */
@NullMarked
package io.github.gpujoin.formats.arrow;

import org.jspecify.annotations.NullMarked;
