// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Topics of Kafka as columnar chunks. Flink's Kafka source fetches; a {@link
 * io.github.gpujoin.kafka.RecordFormat} writes each value into the columns of a chunk, without a
 * record object.
 */
@NullMarked
package io.github.gpujoin.kafka;

import org.jspecify.annotations.NullMarked;
