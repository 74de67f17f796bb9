// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** The command lines of the examples. */
package io.github.gpujoin.examples;
