// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Reading and writing CSV. */
package io.github.gpujoin.examples.csv;
