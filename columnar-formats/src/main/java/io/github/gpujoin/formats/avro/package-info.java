// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Reads Avro container files as chunks. Avro's library reads blocks and codecs; the fields of a
 * block are decoded straight to columns.
 */
@NullMarked
package io.github.gpujoin.formats.avro;

import org.jspecify.annotations.NullMarked;
