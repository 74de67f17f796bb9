// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Reads files with a format, for the tests of all formats. */
package io.github.gpujoin.formats.testing;
