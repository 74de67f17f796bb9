// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0

/** The job: topics of Kafka, joined, written to a topic and to a lake table, exactly once. */
@NullMarked
package io.github.gpujoin.etl.job;

import org.jspecify.annotations.NullMarked;
