// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** What the formats of the packages below share. */
package io.github.gpujoin.formats;
