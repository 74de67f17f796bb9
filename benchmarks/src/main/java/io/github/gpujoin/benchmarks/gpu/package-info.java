// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** What the GPU engine does on the machine at hand, beside what the machine itself does. */
package io.github.gpujoin.benchmarks.gpu;
