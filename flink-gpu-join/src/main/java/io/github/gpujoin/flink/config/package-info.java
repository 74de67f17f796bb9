// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and checks the values of the join's options. The options themselves are in {@code
 * api.options}.
 */
package io.github.gpujoin.flink.config;
