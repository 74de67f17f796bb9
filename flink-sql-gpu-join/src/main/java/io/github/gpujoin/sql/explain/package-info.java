// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Why joins of a statement are not replaced. */
package io.github.gpujoin.sql.explain;
