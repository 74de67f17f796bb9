// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** The join in Flink's Web UI, as a browser shows it. */
package io.github.gpujoin.flink.web;
