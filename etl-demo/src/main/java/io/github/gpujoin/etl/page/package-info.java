// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0

/** A page of rates, lag, placement and skew, from metrics of the running job. */
@NullMarked
package io.github.gpujoin.etl.page;

import org.jspecify.annotations.NullMarked;
