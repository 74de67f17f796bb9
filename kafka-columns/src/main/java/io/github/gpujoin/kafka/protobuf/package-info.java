// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Values that are Protocol Buffers messages, read by their descriptor. */
@NullMarked
package io.github.gpujoin.kafka.protobuf;

import org.jspecify.annotations.NullMarked;
