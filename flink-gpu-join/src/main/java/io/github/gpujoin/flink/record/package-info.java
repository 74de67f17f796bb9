// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Records, their fields and their join keys, and how each is laid out in a chunk. Start with {@link
 * io.github.gpujoin.flink.record.RecordLayout}, which maps the fields of a type to columns, and
 * {@link io.github.gpujoin.flink.record.KeyLayout}, which maps keys. Also holds Flink's serializer
 * of chunks and its versioned snapshot.
 */
package io.github.gpujoin.flink.record;
