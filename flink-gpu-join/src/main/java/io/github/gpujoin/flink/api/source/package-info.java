// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Sources of columnar chunks. A format reads files of one kind column by column; a source reads
 * files of any Flink file system with it, in splits, exactly once.
 */
@NullMarked
package io.github.gpujoin.flink.api.source;

import org.jspecify.annotations.NullMarked;
