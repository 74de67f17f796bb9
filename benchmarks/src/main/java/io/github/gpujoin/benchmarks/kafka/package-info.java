// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Jobs that read Avro values from a broker in this process, as chunks and as Flink's records. */
@NullMarked
package io.github.gpujoin.benchmarks.kafka;

import org.jspecify.annotations.NullMarked;
