// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** The queries of the star schema benchmark and of TPC-H as star joins. */
package io.github.gpujoin.examples.query;
