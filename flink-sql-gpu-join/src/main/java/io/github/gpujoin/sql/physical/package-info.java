// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Nodes of the physical plan. */
package io.github.gpujoin.sql.physical;
