// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Types of the streams that a join reads and emits. Packages of all layers use them, so they are
 * apart from the builders.
 */
package io.github.gpujoin.flink.api.data;
