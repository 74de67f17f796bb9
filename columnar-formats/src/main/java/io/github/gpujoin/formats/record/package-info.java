// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Records that are decoded one by one into the columns of a chunk, without an object a record. Avro
 * files and topics of Kafka share it.
 */
@NullMarked
package io.github.gpujoin.formats.record;

import org.jspecify.annotations.NullMarked;
