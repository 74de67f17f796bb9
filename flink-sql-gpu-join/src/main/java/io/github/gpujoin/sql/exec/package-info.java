// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Nodes that build the operators of a join. */
package io.github.gpujoin.sql.exec;
