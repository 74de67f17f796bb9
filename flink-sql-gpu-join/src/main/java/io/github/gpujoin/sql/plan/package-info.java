// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Decides which joins of a physical plan are replaced, and replaces them. */
package io.github.gpujoin.sql.plan;
