// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Values that are JSON objects, read token by token. */
@NullMarked
package io.github.gpujoin.kafka.json;

import org.jspecify.annotations.NullMarked;
