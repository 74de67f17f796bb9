// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Tables of the star schema benchmark and of TPC-H, and generators of their files. */
package io.github.gpujoin.examples.data;
