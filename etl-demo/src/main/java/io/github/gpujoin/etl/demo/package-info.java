// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0

/** The command: a broker, a Flink cluster, a generator and the job, each in its own process. */
@NullMarked
package io.github.gpujoin.etl.demo;

import org.jspecify.annotations.NullMarked;
