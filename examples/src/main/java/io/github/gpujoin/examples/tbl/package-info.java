// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Pipe-separated {@code .tbl} files as dbgen and ssb-dbgen write them, read into chunks. */
package io.github.gpujoin.examples.tbl;
