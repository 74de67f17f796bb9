// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Orders, customers and products of the demo: a function of a seed, so that a checker knows every
 * expected row, and the process that writes them to Kafka.
 */
@NullMarked
package io.github.gpujoin.etl.data;

import org.jspecify.annotations.NullMarked;
