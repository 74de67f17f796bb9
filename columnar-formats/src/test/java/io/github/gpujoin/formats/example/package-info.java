// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** A format as the author of a connector writes one; the user guide quotes it. */
@NullMarked
package io.github.gpujoin.formats.example;

import org.jspecify.annotations.NullMarked;
