// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Avro values, plain or with the frame of Confluent's serializers. A plan, made once for a writer's
 * schema, reads the bytes of the wanted fields and skips all others.
 */
@NullMarked
package io.github.gpujoin.kafka.avro;

import org.jspecify.annotations.NullMarked;
