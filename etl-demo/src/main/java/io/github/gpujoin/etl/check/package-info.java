// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0

/** Reads both results and compares them with what the seed says. */
@NullMarked
package io.github.gpujoin.etl.check;

import org.jspecify.annotations.NullMarked;
