// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Values that are lines of delimited text. */
@NullMarked
package io.github.gpujoin.kafka.csv;

import org.jspecify.annotations.NullMarked;
